"""A simulator of faults, in the manner of those that DAP servers are tried out with: from a seed, a
schedule of all that people and tasks do to the site, in any order, twice, side by side, with a
crash at any statement; and what must hold whatever happened.

    clock       the world's time, which every act of the site sees
    databases   a migrated database that is as new before each schedule, on either engine
    faults      a connection that is killed, lost or refused at its k-th statement
    stage       tasks side by side, a statement at a time, in an order that the seed says; one may
                pause at its k-th
    world       studies, messages, a broker that loses and repeats, and what the clients were told
    acts        all that can happen
    invariants  what must hold, told from the rows and from what clients know
    schedule    one seed: the acts, then every task until nothing changes, and what is broken
    planted     bugs to find

Acts go through the doors that people and workers use; nothing is faked but time, the broker and the
wire to the database.
"""

-- A role and a database for Candor, on PostgreSQL 15 or later. Once, as the server's superuser:
--   psql -v ON_ERROR_STOP=1 -v password="'…'" -f deploy/setup.sql
-- then start the server again, for its locks.
CREATE ROLE candor LOGIN PASSWORD :password;
CREATE DATABASE candor OWNER candor ENCODING 'UTF8' TEMPLATE template0;
REVOKE CONNECT ON DATABASE candor FROM PUBLIC;
GRANT pg_checkpoint TO candor; -- manage.py forget
GRANT pg_read_all_settings TO candor; -- where the database's disk is, to watch it

-- What was erased is not to stand in old files of the log, nor a report in the server's own.
ALTER SYSTEM SET wal_recycle = off;
ALTER SYSTEM SET log_statement = 'none';
ALTER SYSTEM SET log_min_duration_statement = -1;
ALTER SYSTEM SET log_parameter_max_length_on_error = 0;
ALTER SYSTEM SET max_locks_per_transaction = 512; -- a backup takes two for each open study
SELECT pg_reload_conf();

\connect candor
-- manage.py forget: these stand in the database, and go with it
GRANT EXECUTE ON FUNCTION pg_switch_wal() TO candor;
GRANT EXECUTE ON FUNCTION pg_ls_dir(text), pg_stat_file(text, boolean) TO candor;

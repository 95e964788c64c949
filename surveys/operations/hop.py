"""What the two web processes of `up` agree on."""

FROM = "x-candor-from"  # the header in which the front tells the pages who asks

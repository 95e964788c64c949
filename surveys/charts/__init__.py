"""Where things stand in a picture: scales, lines, bars and bands, for every room that draws."""

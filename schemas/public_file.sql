-- Public files: of a warehouse that is split, which file holds what is out of a series. Where the
-- catalog lies in such a file itself, it says whose it is.

-- One row per series that has a public file. home: where the warehouse was then, since a copy of it
-- must not write the file as well; token: which file it is, as the file says itself; epoch: drawn
-- anew when a backup takes the place of the warehouse, so that the file is made anew.
CREATE TABLE IF NOT EXISTS srsql.public_file (
    dataset VARCHAR NOT NULL,
    series VARCHAR NOT NULL,
    path VARCHAR NOT NULL,
    home VARCHAR NOT NULL,
    token VARCHAR NOT NULL,
    epoch VARCHAR NOT NULL,
    PRIMARY KEY (dataset, series)
);

-- One row in a public file, none in a warehouse: its token, and a digest of what was out when it
-- was made.
CREATE TABLE IF NOT EXISTS srsql.public_origin (
    token VARCHAR NOT NULL,
    state VARCHAR NOT NULL
);

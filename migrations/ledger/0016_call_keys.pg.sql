-- As 0016_call_keys.sqlite.sql says.
CREATE TABLE call_keys (
  kid              TEXT COLLATE "C" PRIMARY KEY,
  x                TEXT COLLATE "C" NOT NULL,
  listed_until_ms  BIGINT NOT NULL
);

-- The stamp of each event that was or can be exchanged with other devices (docs/decisions/033): the device that made it, its number
-- and hash there, its logical time in microseconds, and what the device had seen, as JSON. Own events get theirs when a sync begins.

CREATE TABLE sync_events (
  event INTEGER PRIMARY KEY REFERENCES events (number),
  user_id INTEGER NOT NULL REFERENCES users (id),
  device TEXT NOT NULL,
  number INTEGER NOT NULL,
  hash TEXT NOT NULL,
  time INTEGER NOT NULL,
  seen TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX sync_events_of_device ON sync_events (user_id, device, number);

-- Keyed fingerprints of forgotten texts, with the event that forgot them. The keys are not in this file.
CREATE TABLE forgotten_texts (
  user_id INTEGER NOT NULL REFERENCES users (id),
  fingerprint TEXT NOT NULL,
  event INTEGER NOT NULL REFERENCES events (number),
  PRIMARY KEY (user_id, fingerprint)
) STRICT, WITHOUT ROWID;
CREATE INDEX forgotten_texts_of_event ON forgotten_texts (event);

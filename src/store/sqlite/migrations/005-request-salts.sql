-- The fingerprint of a request with an idempotency key is an HMAC under its own random salt. The salt is erased with the
-- beliefs and turns of the request, so that a forgotten text cannot be guessed from the fingerprint, which the hash of the
-- event covers and which therefore stays.

CREATE TABLE request_salts (
  event INTEGER PRIMARY KEY REFERENCES events (number),
  salt BLOB NOT NULL
) STRICT;

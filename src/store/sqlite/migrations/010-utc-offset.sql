-- The UTC offset that the time of a turn arrived with, in minutes; null for a time in UTC or without an offset. The hash of
-- a turn covers it if it is not null.
ALTER TABLE turns ADD COLUMN utc_offset INTEGER;

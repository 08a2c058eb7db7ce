/**
 * Names the way texts are read into the derived tables. Tables with another mark are derived anew when a store is opened,
 * since what was indexed by other rules could be neither found nor removed. A test knows when this must change.
 */
export const readingMark = 'b0dc478bbf674b64'

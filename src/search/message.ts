/**
 * The most characters of a message that beliefs are looked for in, at every door. Nobody types so much: a longer message is
 * a paste, which people write about at its beginning or its end.
 */
export const maxMessageLength = 32_000

/** Whether only the ends of a message are read. */
export const isTooLong = (message: string): boolean => message.length > maxMessageLength

/** The beginning and the end of a message that is too long, on separate lines; any other message unchanged. */
export const cutMessage = (message: string): string =>
  isTooLong(message)
    ? `${message.slice(0, maxMessageLength / 2 - 1)}\n${message.slice(-maxMessageLength / 2)}`.toWellFormed()
    : message

/** Where a character of a cut message is in the whole message. */
export const placeInWhole = (message: string, place: number): number =>
  isTooLong(message) && place >= maxMessageLength / 2 ? place + message.length - maxMessageLength : place

/** For the reader of an answer. */
export const cutNote = 'The text has more than 32,000 characters: only its first and last 16,000 were read.'

/** Characters at each end of a message that all its words are compared with texts for. */
const readAtEachEnd = 4_000

/**
 * The part of a message that is used to find quotes and words in beliefs: comparing every word of a pasted text with
 * the whole store would block a server. Names of beliefs are searched in the whole message.
 */
export const endsOf = (message: string): string =>
  message.length <= 2 * readAtEachEnd
    ? message
    : `${message.slice(0, readAtEachEnd)}\n\n${message.slice(-readAtEachEnd)}`

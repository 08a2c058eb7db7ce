/**
 * Max characters of a message that are searched for names of beliefs, in every interface. A longer message contains pasted
 * text, and people write about a paste before or after it, so only both ends are read.
 */
export const maxMessageLength = 32_000

/** Whether only the ends of a message are read. */
export const isTooLong = (message: string): boolean => message.length > maxMessageLength

/** The beginning and the end of a message that is too long, on separate lines; any other message unchanged. */
export const cutMessage = (message: string): string =>
  isTooLong(message)
    ? `${message.slice(0, maxMessageLength / 2 - 1)}\n${message.slice(-maxMessageLength / 2)}`.toWellFormed()
    : message

/** Maps an offset in a cut message to the offset in the whole message. */
export const placeInWhole = (message: string, place: number): number =>
  isTooLong(message) && place >= maxMessageLength / 2 ? place + message.length - maxMessageLength : place

/** Added to the answer to a message that was cut. */
export const cutNote = 'The text has more than 32,000 characters: only its first and last 16,000 were read.'

/** Characters at each end of a message that `keepEnds` keeps. */
const readAtEachEnd = 4_000

/**
 * The part of a message that is used to find quotes and words in beliefs: comparing every word of a pasted text with
 * the whole store would block a server. Names of beliefs are searched in up to `maxMessageLength` characters.
 */
export const keepEnds = (message: string): string =>
  message.length <= 2 * readAtEachEnd
    ? message
    : `${message.slice(0, readAtEachEnd)}\n\n${message.slice(-readAtEachEnd)}`

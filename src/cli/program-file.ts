import { fileURLToPath } from 'node:url'

/** The file that starts this program, in a clone and in an installed package. */
export const programFile = fileURLToPath(new URL('../../bin/credence.js', import.meta.url))

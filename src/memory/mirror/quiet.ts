import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { signatureAt } from './live-file.ts'
import type { MirrorPlaces } from './places.ts'
import { settleMs } from './swap.ts'

const mostWaits = 5

/** Waits for writers that may not be done, a few times in one sync and not for ever. */
export class Quiet {
  readonly #places: MirrorPlaces
  #waited = 0

  constructor(places: MirrorPlaces) {
    this.#places = places
  }

  /** Whether a file with lines missing was written so lately that its writer may not be done. */
  async isRestless(read: readonly { readonly name: string; readonly signature: string | null }[]): Promise<boolean> {
    if (this.#waited >= mostWaits) return false
    const signatures = (): readonly (string | null)[] =>
      read.map(({ name }) => signatureAt(join(this.#places.dir, name)))
    const before = signatures()
    await pause(settleMs)
    const after = signatures()
    this.#waited += 1
    return before.some((signature, index) => signature !== after[index] || signature !== read[index]?.signature)
  }
}

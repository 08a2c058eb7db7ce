import type { Belief } from '../../beliefs/belief.ts'
import { MemoryError } from '../../errors.ts'
import type { Ports } from '../change/transaction.ts'
import { type Torn, writeConflictFile } from './conflict-file.ts'
import type { ItemSegment } from './document.ts'
import { fieldsOfBelief, itemHash } from './item.ts'
import type { MirrorFiles } from './mirror-files.ts'
import type { MirrorPlaces } from './places.ts'
import type { MirrorState } from './state.ts'
import { type Addition, type NewLine, retire, takeConflict, takeCorrection, takeNew } from './take-in.ts'
import type { Intent, Weighed } from './weigh.ts'

type Counts = {
  readonly corrected: number
  readonly added: number
  readonly retired: number
  readonly conflicts: number
}

/** What came of the files. */
export type Taken = {
  readonly counts: Counts
  /** Beliefs that were touched. */
  readonly ids: readonly string[]
  /** Items that could not be taken in, with the hash of what the store says instead. They stay in the file as they are. */
  readonly refused: ReadonlyMap<ItemSegment, string>
  readonly refusals: readonly Refusal[]
  /** Whether something changed in the store meanwhile, so that it has to be weighed again. */
  readonly mustRepeat: boolean
}

/** Lines move while others are sorted in, so where it stands is asked for when all is written. */
type Refusal = { readonly file: string; readonly reason: string; readonly line: () => number }

type Bench = {
  readonly ports: Ports
  readonly places: MirrorPlaces
  readonly state: MirrorState
  readonly files: MirrorFiles
}

/** Carries out what was weighed: first in the store, then in the files. */
export async function applyIntents(bench: Bench, { intents, removed, kept }: Weighed): Promise<Taken> {
  const application = new Application(bench)
  for (const intent of intents) await application.apply(intent)
  await application.retire(removed)
  application.keep(kept)
  return application.end()
}

class Application {
  readonly #bench: Bench
  readonly #counts = { corrected: 0, added: 0, retired: 0, conflicts: 0 }
  readonly #ids: string[] = []
  readonly #refused = new Map<ItemSegment, string>()
  readonly #refusals: Refusal[] = []
  readonly #torn: Torn[] = []
  #mustRepeat = false

  constructor(bench: Bench) {
    this.#bench = bench
  }

  async apply(intent: Intent): Promise<void> {
    const { document, segment, file } = intent
    switch (intent.kind) {
      case 'keep':
        return
      case 'show':
        this.#show(intent, intent.belief)
        return
      case 'drop':
        document.remove(segment)
        this.#bench.files.touch(file)
        return
      case 'correct':
        await this.#take(intent, intent.old, async () => {
          const belief = await takeCorrection(this.#taking(file), intent.old, intent.fields)
          return belief === null ? null : { outcome: 'corrected', belief }
        })
        return
      case 'add':
        await this.#take(intent, null, () => takeNew(this.#taking(file), newLine(intent)))
        return
      case 'conflict':
        await this.#conflict(intent)
    }
  }

  async retire(removed: Weighed['removed']): Promise<void> {
    for (const [file, group] of Map.groupBy(removed, (one) => one.file)) {
      const beliefs = group.map(({ belief }) => belief)
      const retired = await retire(this.#taking(file), beliefs)
      this.#counts.retired += retired.length
      this.#ids.push(...retired)
      if (retired.length < beliefs.length) this.#mustRepeat = true
      this.#bench.files.touch(file)
    }
  }

  /** What was taken out of the file while the store changed it comes back. */
  keep(kept: readonly Belief[]): void {
    for (const belief of kept) {
      this.#ids.push(belief.id)
      this.#counts.conflicts += 1
      this.#torn.push({
        stored: belief,
        said: null,
        note: 'It was taken out of the file, and changed in the store meanwhile; it stays.',
      })
    }
  }

  async end(): Promise<Taken> {
    const { places, state, ports } = this.#bench
    if (this.#torn.length > 0) {
      const at = ports.now()
      const file = await writeConflictFile(places, at, this.#torn)
      const beliefs = this.#torn.flatMap(({ said }) => said?.id ?? [])
      state.conflicts.push({ at: at.toISOString(), file, beliefs })
    }
    return {
      counts: this.#counts,
      ids: this.#ids,
      refused: this.#refused,
      refusals: this.#refusals,
      mustRepeat: this.#mustRepeat,
    }
  }

  #taking(file: string) {
    const { ports, state } = this.#bench
    return { ports, user: state.user, file }
  }

  async #take(intent: Intent, old: Belief | null, take: () => Promise<Addition | null>): Promise<void> {
    const { document, segment, file } = intent
    try {
      const taken = await take()
      if (taken === null) {
        this.#mustRepeat = true
        return
      }
      const { outcome, belief } = taken
      if (outcome !== 'known') this.#counts[outcome] += 1
      if (old !== null) this.#ids.push(old.id)
      this.#ids.push(belief.id)
      this.#show(intent, belief)
    } catch (error) {
      if (!(error instanceof MemoryError) || error.code === 'unavailable') throw error
      this.#refusals.push({ file, line: () => document.lineOf(segment), reason: error.message })
      if (old !== null) this.#refused.set(segment, itemHash(this.#bench.state.key, fieldsOfBelief(old)))
    }
  }

  /** Writes a belief in the place of an item, unless it stands somewhere already. */
  #show({ document, segment, file }: Intent, belief: Belief): void {
    this.#bench.files.touch(file)
    if (belief.id !== segment.item.id && this.#bench.files.isStanding(belief.id)) document.remove(segment)
    else this.#bench.files.replace(file, segment, belief)
  }

  async #conflict(intent: Extract<Intent, { kind: 'conflict' }>): Promise<void> {
    const { current, fields, file } = intent
    try {
      const proposed = await takeConflict(this.#taking(file), current, fields)
      if (proposed === null) {
        this.#mustRepeat = true
        return
      }
      this.#counts.conflicts += 1
      this.#torn.push({
        stored: current,
        said: proposed,
        note: `It was changed in both; the file's version waits as the proposal ${proposed.id}.`,
      })
      this.#show(intent, current)
    } catch (error) {
      if (!(error instanceof MemoryError) || error.code === 'unavailable') throw error
      this.#refusals.push({ file, line: () => intent.document.lineOf(intent.segment), reason: error.message })
      this.#refused.set(intent.segment, itemHash(this.#bench.state.key, fieldsOfBelief(current)))
    }
  }
}

/** Only a heading of ours says what kind of thing stands below it. */
export function newLine({ fields, isNamed, segment: { section } }: Extract<Intent, { kind: 'add' }>): NewLine {
  return { fields, isNamed, isTyped: section !== null && section !== 'new' && section.type !== null }
}

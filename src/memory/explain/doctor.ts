import type { Finding, StoreCare } from '../../beliefs/store-care.ts'
import { MemoryError } from '../../errors.ts'
import { forget } from '../change/forget.ts'
import { remember } from '../change/remember.ts'
import type { Ports, Store } from '../ports.ts'
import { recall } from '../recall/recall.ts'

const doctorUser = 'credence-doctor'
const doctorScope = 'domain:doctor'
const author = { actor: 'tool', origin: 'doctor' } as const

/** Checks the whole store, then really remembers, recalls and forgets something under a user of its own. */
export async function examine(ports: Ports & { readonly store: Store & StoreCare }): Promise<readonly Finding[]> {
  const findings = await ports.store.verify()
  const trip = await roundTrip(ports).catch(asFinding)
  // Otherwise the next check would report the text that the round trip forgot as not scrubbed yet.
  await ports.store.scrub()
  return [...findings, trip]
}

/** Derives everything again from the journal and says whether that changed anything. */
export async function rebuild({ store }: { readonly store: StoreCare }): Promise<Finding> {
  const before = await store.fingerprint()
  await store.rebuild()
  const after = await store.fingerprint()
  const detail =
    before === after ? 'identical to what was there' : 'what was there differed from the journal and has been replaced'
  return { check: 'rebuild', ok: true, detail }
}

const check = 'remember, recall and forget'

/** A store that refuses is what a doctor is there to report; anything else is a bug. */
function asFinding(error: unknown): Finding {
  if (!(error instanceof MemoryError)) throw error
  return { check, ok: false, detail: error.message }
}

async function roundTrip(ports: Ports): Promise<Finding> {
  const name = `check ${ports.newId()}`
  const view = { user: doctorUser, scopes: [doctorScope], message: `Is ${name} here?` }
  const draft = { name, content: 'Written by the doctor to see whether writing works.', scopes: [doctorScope] }
  const { belief } = await remember(ports, { user: doctorUser, author, draft })
  const during = await recall(ports, view)
  await forget(ports, { user: doctorUser, author, reference: belief.id })
  const after = await recall(ports, view)
  const wasFound = during.relevant.some((relevant) => relevant.belief.id === belief.id)
  if (!wasFound) return { check, ok: false, detail: 'what was remembered was not recalled' }
  if (after.relevant.length > 0) return { check, ok: false, detail: 'what was forgotten was still recalled' }
  return { check, ok: true, detail: 'a belief was written, recalled, and is gone again' }
}

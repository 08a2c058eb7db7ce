import { describe, expect, it } from 'vitest'
import { committed } from '../../opened-stores.contract.ts'
import { commitOf, present, sample } from '../../sample-beliefs.contract.ts'
import { Connection } from '../connection.ts'
import { openDatabase } from '../database.ts'
import { newFile, openAt, tamper } from '../temporary-store.contract.ts'
import { shareOfIndex, type VerifyingThread, verifyStore, verifyWithThread } from './verify.ts'

const users = ['alice', 'bob']

async function filled(): Promise<string> {
  const file = newFile()
  const store = openAt(file)
  for (const user of users) {
    const beliefs = Array.from({ length: 12 }, (_, at) =>
      sample({
        id: `${user}-${at}x`,
        user,
        name: `Cluster ${at}`,
        aliases: ['node pool'],
        content: `Runs ${at} jobs.`,
      }),
    )
    await committed(
      store,
      commitOf(
        beliefs.map((belief) => present(belief)),
        { user },
      ),
    )
  }
  await store.close()
  return file
}

/** A check whose second thread is a second connection. `meanwhile` runs before that one reads. */
async function checked(file: string, meanwhile: () => Promise<void> = async () => {}) {
  const open = () =>
    new Connection({
      ...{ file, isReadonly: true, busyTimeoutMs: 1_000 },
      open: () => openDatabase({ file, readonly: true }),
    })
  const [here, there] = [open(), open()]
  const asked: string[] = []
  const thread: VerifyingThread = {
    journal: async () => verifyStore(there, undefined, 'journal'),
    shareOfIndex: async (share) => {
      await meanwhile()
      asked.push(share.after ?? '')
      return shareOfIndex(there, share)
    },
  }
  const inTwo = await verifyWithThread(here, undefined, thread)
  const alone = verifyStore(here)
  here.close()
  there.close()
  return { inTwo, alone, asked }
}

describe('a check in two threads', () => {
  it('finds what a check in one thread finds, with beliefs of every user in both shares', async () => {
    const { inTwo, alone, asked } = await checked(await filled())

    expect(inTwo).toEqual(alone)
    expect(inTwo.filter(({ ok }) => !ok)).toEqual([])
    expect(asked[0]).toMatch(/^alice-/)
  })

  it.each([
    ['in the first share', `UPDATE beliefs SET updated_at = '2020' WHERE id = 'alice-0x'`],
    ['in the last share', `DELETE FROM forms WHERE belief = 'bob-9x'`],
    ['in a count of both', 'UPDATE words SET count = count + 256'],
    ['that counts nothing', `INSERT INTO words (user_id, word, count) VALUES (1, 'stray', 0)`],
  ])('says as a check in one thread what is wrong %s', async (_, statement) => {
    const file = await filled()
    tamper(file, statement)

    const { inTwo, alone } = await checked(file)

    expect(inTwo.filter(({ ok }) => !ok)).toHaveLength(1)
    expect(inTwo).toEqual(alone)
  })

  it('is not confused by a change between the two', async () => {
    const file = await filled()
    const writer = openAt(file)

    const { inTwo } = await checked(file, async () => {
      await committed(
        writer,
        commitOf([present(sample({ id: 'zoe-1', user: 'alice', name: 'Late' }))], { user: 'alice' }),
      )
    })

    await writer.close()
    expect(inTwo.filter(({ ok }) => !ok)).toEqual([])
  })
})

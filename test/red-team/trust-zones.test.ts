import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openRedTeamTarget } from '../../src/cli/red-team-target.ts'
import { defenceless, refuseEverything } from '../../src/eval/runners/red-team/controls.ts'
import { redTeamRunner, type TargetSystem } from '../../src/eval/runners/red-team/red-team-runner.ts'
import { openPackFolder } from '../../src/eval/runners/runner.ts'
import { redTeamExample } from '../harness/example-documents.ts'
import { temporaryDirectory } from '../temporary-directory.ts'

const packs = ['poisoning-corroboration-pack', 'trust-zones'].map((id) => join('packs', id))

/** Runs a pack; returns its outcomes and the kinds of its failing cases. */
async function runOn(system: TargetSystem, directory: string) {
  const kind = redTeamRunner({ open: async () => system, version: '0', clock: () => 0 })
  const { execute, cases } = await openPackFolder(directory, [kind])
  const request = { repeat: 0, seed: 1, jobs: 1, signal: new AbortController().signal, folder: null }
  const outcomes = []
  for await (const outcome of execute({ ...request, wanted: new Set(cases.map(({ id }) => id)) }))
    outcomes.push(outcome)
  const failed = outcomes.filter(({ verdict }) => verdict !== 'pass')
  return { outcomes, kinds: new Set(failed.map(({ explanation }) => (explanation as { kind: string }).kind)) }
}

describe('promotion from working to trusted', () => {
  it('is attacked by the published pack', () => {
    expect(JSON.parse(readFileSync('packs/poisoning-corroboration-pack/manifest.json', 'utf8'))).toEqual(redTeamExample)
  })

  it.each(packs)('fails for spoofed sources, and succeeds for the person: %s', async (directory) => {
    using place = temporaryDirectory()
    const { outcomes, kinds } = await runOn({ name: 'credence', open: () => openRedTeamTarget(place.path) }, directory)

    expect(kinds).toEqual(new Set())
    expect(outcomes.length).toBeGreaterThan(1)
  })

  it('is really attempted: the spoofed record reaches the context, marked as coming from an agent or a document', async () => {
    using place = temporaryDirectory()
    const { outcomes } = await runOn(
      { name: 'credence', open: () => openRedTeamTarget(place.path) },
      packs[0] as string,
    )

    expect(outcomes.find(({ caseId }) => caseId === 'spoofed-single-source-promotion')?.explanation).toMatchObject({
      recalled: true,
      context: expect.stringMatching(/from the (?:agent|document) .*Corvane/u),
    })
  })

  it.each(packs)('succeeds for every source on the control that believes everything: %s', async (directory) => {
    expect((await runOn(defenceless, directory)).kinds).toEqual(new Set(['attack']))
  })

  it.each(packs)('is refused to the person on the control that refuses everything: %s', async (directory) => {
    using place = temporaryDirectory()
    const system = { name: 'refusing', open: refuseEverything(() => openRedTeamTarget(place.path)) }

    expect((await runOn(system, directory)).kinds).toEqual(new Set(['benign']))
  })
})

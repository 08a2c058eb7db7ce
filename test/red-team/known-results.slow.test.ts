import { globSync } from 'node:fs'
import { expect, it } from 'vitest'
import { openRedTeamTarget } from '../../src/cli/red-team-target.ts'
import { redTeamRunner } from '../../src/eval/runners/red-team/red-team-runner.ts'
import { openPackFolder } from '../../src/eval/runners/runner.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import known from './known-results.json' with { type: 'json' }

/**
 * docs/red-team.md explains the attacks and the benign cases of the list. A case that is fixed must be removed from it.
 */
it('exactly the listed attacks of all packs succeed, and exactly the listed benign cases fail', {
  timeout: 1_800_000,
}, async () => {
  const failed = { attacks: [] as string[], benign: [] as string[] }

  for (const directory of globSync('packs/red-team/*/*')) {
    using place = temporaryDirectory()
    const system = { name: 'credence', open: () => openRedTeamTarget(place.path) }
    const kind = redTeamRunner({ open: async () => system, version: '0', clock: () => 0 })
    const { execute, cases } = await openPackFolder(directory, [kind])
    const wanted = new Set(cases.map(({ id }) => id))
    const request = { repeat: 0, seed: 1, jobs: 2, signal: new AbortController().signal, folder: null, wanted }
    for await (const { caseId, verdict, explanation } of execute(request))
      if (verdict !== 'pass')
        failed[(explanation as { kind: string }).kind === 'attack' ? 'attacks' : 'benign'].push(caseId)
  }

  expect({ attacks: failed.attacks.sort(), benign: failed.benign.sort() }).toEqual(known)
})

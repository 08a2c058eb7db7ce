import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { isOutsideName, openOutside } from '../../../src/eval/system/systems.ts'
import { listenOnLoopback } from '../../../src/http/listen.ts'
import { recallApp } from '../../../src/http/recall-app.ts'
import { createSandbox } from '../../cli/sandbox.ts'
import { belief, staticCase } from '../sample-corpus.ts'
import { backends } from './sample-packs.ts'
import { answer, scriptedServer } from './scripted-http-server.ts'

const files = ['--beliefs', 'beliefs.json', '--cases', 'cases.json']

/** A sandbox with a small corpus and a case about it. */
function place() {
  const work = createSandbox()
  const expected = { relevantBeliefs: { shouldOnlyInclude: ['b-anchor'] } }
  writeFileSync(join(work.work, 'beliefs.json'), JSON.stringify([belief('b-anchor'), belief('b-sail')]))
  writeFileSync(join(work.work, 'cases.json'), JSON.stringify([staticCase('named', 'the anchor', expected)]))
  return work
}

describe('a system outside of Credence', () => {
  it('is named by its kind and address', async () => {
    expect(await openOutside('http:http://127.0.0.1:8080')).toMatchObject({ name: 'http-127-0-0-1-8080' })
    expect(await openOutside('http-lean:http://[::1]:8080/v1')).toMatchObject({ name: 'http-lean-1-8080-v1' })
    expect(await openOutside('mcp:examples/systems/server-memory.json')).toMatchObject({ name: 'server-memory' })
    for (const name of ['', 'http', 'http:', 'mcp', 'bm25', 'https://127.0.0.1', 'ftp:x'])
      expect(isOutsideName(name), name).toBe(false)
  })

  it('is measured like any backend', async () => {
    const app = recallApp({ system: backends.ours(), now: () => new Date(0), newId: () => 'unused', onBug: () => {} })
    const server = await listenOnLoopback(app.fetch, 0)
    using work = place()
    try {
      const { exitCode, stdout } = await work.run('eval', 'retrieval', ...files, '--backend', `http:${server.url}`)

      expect(exitCode).toBe(0)
      expect(stdout).toMatch(/http-\S+ +1\/1/u)
      const name = `retrieval-report-http-127-0-0-1-${server.port}.json`
      const report = JSON.parse(readFileSync(join(work.work, 'test-results', name), 'utf8'))
      expect(report).toMatchObject({ suppliedTiers: true, retrieval: { totalPassed: 1, errors: 0 } })
    } finally {
      await server.close()
    }
  })

  it('may be an MCP server', async () => {
    using work = place()
    const mapping = {
      name: 'scripted',
      command: process.execPath,
      args: [fileURLToPath(new URL('scripted-mcp-server.ts', import.meta.url)), 'works', '{{stateDir}}'],
      add: { tool: 'remember', arguments: { id: '{{id}}', text: 'the {{name}}' } },
      search: { tool: 'find', arguments: { query: '{{query}}' }, results: { ids: '$.hits[*].id' } },
    }
    writeFileSync(join(work.work, 'mapping.json'), JSON.stringify(mapping))

    const { exitCode, stdout } = await work.run(
      'eval',
      'retrieval',
      ...files,
      '--backend',
      `mcp:${join(work.work, 'mapping.json')}`,
    )

    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/scripted +1\/1/u)
  })

  it('never receives an id, an expectation or a label of a case', async () => {
    await using server = await scriptedServer((_asked, response) => answer(response, { results: [] }))
    using work = place()

    await work.run('eval', 'retrieval', ...files, '--backend', `http:${server.url}`)

    const seen = JSON.stringify(server.asked)
    expect(seen).toContain('the anchor')
    for (const hidden of ['b-anchor', 'b-sail', 'named', 'shouldOnlyInclude']) expect(seen).not.toContain(hidden)
  })

  it('that does not answer causes errors instead of zeros, and a comparison exits with 1', async () => {
    await using server = await scriptedServer((_asked, response) => answer(response, 'out of order', 500))
    using work = place()
    const name = ['--backend', `http:${server.url}`, '--pack', 'session-drift', '--out', work.work]

    const { exitCode, stdout, stderr } = await work.run('eval', 'all', ...name)

    expect(exitCode).toBe(1)
    expect(stdout).toContain('0/12 (12 errors)')
    expect(stderr).toContain(`did not answer 12 cases: The corpus could not be stored: DELETE ${server.url}/reset`)
    expect(stderr).toContain('answered 500: out of order')
  })

  it.each([
    ['htp:x', 2, '"htp:x" is not one of'],
    ['http:nowhere', 3, '"nowhere" is not the URL of a system'],
    ['mcp:none.json', 3, 'There is no file'],
  ])('is refused as %s', async (name, code, reason) => {
    using work = place()

    const { exitCode, stderr } = await work.run('eval', 'retrieval', ...files, '--backend', name)

    expect(exitCode).toBe(code)
    expect(stderr).toContain(reason)
  })
})

import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { bin } from '../cli/sandbox.ts'
import { temporaryDirectory } from '../temporary-directory.ts'

const hasCurl = spawnSync('curl', ['--version']).error === undefined
if (!hasCurl) console.log('curl is not installed, so the example of docs/teams.md is not run. apt-get install curl')

it.skipIf(!hasCurl)('the example of docs/teams.md runs, with the printed answers', { timeout: 300_000 }, () => {
  using directory = temporaryDirectory()
  const programs = join(directory.path, 'bin')
  mkdirSync(programs)
  writeFileSync(join(programs, 'credence'), `#!/bin/sh\nexec "${process.execPath}" "${bin}" "$@"\n`, { mode: 0o755 })
  const guide = readFileSync(new URL('../../docs/teams.md', import.meta.url), 'utf8')
  const [, script = ''] = /```sh\n(.+?)```/su.exec(guide) ?? []
  const [, shown = ''] = /```text\n(.+?)```/su.exec(guide) ?? []

  const { stdout, stderr, status } = spawnSync('bash', ['-eu', '-c', script], {
    cwd: directory.path,
    encoding: 'utf8',
    env: { PATH: `${programs}:${process.env.PATH}`, HOME: directory.path },
  })

  expect(status, stderr).toBe(0)
  const [last = ''] = stdout.trim().split('\n').slice(-1)
  expect(JSON.parse(last).rendered).toContain(shown.trim())
  expect(last).not.toContain('exciting')
})

// Compiles src/ to dist/ and copies what the compiler leaves behind: word lists, SQL, and other files read at run time.
import { spawnSync } from 'node:child_process'
import { cpSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const source = join(root, 'src')
const target = join(root, 'dist')

rmSync(target, { recursive: true, force: true })

const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
const { status, error } = spawnSync(process.execPath, [compiler, '-p', join(root, 'tsconfig.build.json')], {
  cwd: root,
  stdio: 'inherit',
})
if (error !== undefined) throw error
if (status !== 0) process.exit(status ?? 1)

cpSync(source, target, {
  recursive: true,
  filter: (path) => statSync(path).isDirectory() || !path.endsWith('.ts'),
})

// Implements `npm run dev`: serves a memory, restarts the server when a source changes, and rebuilds the dashboard when one of its
// files changes. Reload the page in the browser to see the change. Usage: npm run dev -- [options of credence serve]
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const root = fileURLToPath(new URL('..', import.meta.url))

await build({ configFile: join(root, 'web', 'vite.config.ts'), logLevel: 'warn', build: { watch: {} } })

const watching = ['--watch-path', join(root, 'src'), '--watch-preserve-output']
const serving = [join(root, 'bin', 'credence.js'), 'serve', ...process.argv.slice(2)]
const server = spawn(process.execPath, [...watching, ...serving], { stdio: 'inherit' })
server.once('exit', (code) => process.exit(code ?? 0))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => server.kill(signal))

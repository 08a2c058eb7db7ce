// Implements `npm start` in a clone: builds the dashboard if needed, then serves it with the API and MCP on the existing memory or
// on a demo, and runs the retrieval packs once so that there are results to look at.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { main } from '../src/cli/main.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

if (!existsSync(join(root, 'dist', 'web', 'index.html'))) {
  console.error('Building the dashboard; this is done once.')
  const { build } = await import('vite')
  await build({ configFile: join(root, 'web', 'vite.config.ts'), logLevel: 'warn' })
}

process.exitCode = await main(['serve', '--evaluate', ...process.argv.slice(2)])

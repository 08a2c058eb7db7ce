import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const here = fileURLToPath(new URL('.', import.meta.url))

export default defineConfig({
  root: here,
  // Oxc reads jsxImportSource from the compiler's settings beside this file.
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: fileURLToPath(new URL('../dist/web', import.meta.url)),
    emptyOutDir: true,
    // light-dark() and nesting are used as they are.
    target: ['chrome125', 'firefox128', 'safari17.5'],
    // Everything must be a file of its own: the page's policy allows no data: addresses and no inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    host: '127.0.0.1',
    // While working on the pages: `credence serve --port 4777` beside `npx vite web`.
    proxy: { '/api': 'http://127.0.0.1:4777' },
  },
})

import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'

const here = fileURLToPath(new URL('.', import.meta.url))

/** Defines `routesOfServer`, the method and path of each operation, because importing the operations would bundle the server. */
const routesOfServer: Plugin = {
  name: 'routes-of-server',
  config: async () => {
    const { operations } = await import(new URL('../src/operations/table.ts', import.meta.url).href)
    const routes = Object.entries<{ http: string }>(operations).map(([name, { http }]) => [name, http])
    return { define: { routesOfServer: JSON.stringify(Object.fromEntries(routes)) } }
  },
}

/** The files of each group of pages, for start.js to fetch early. */
const filesOfPages: Plugin = {
  name: 'files-of-pages',
  transformIndexHtml: {
    order: 'post',
    handler: (html, { bundle = {} }) => {
      const chunks = Object.values(bundle).filter((one) => one.type === 'chunk')
      const always = new Set(
        chunks.filter(({ isEntry }) => isEntry).flatMap(({ fileName, imports }) => [fileName, ...imports]),
      )
      const filesOf = (module: string): string =>
        chunks
          .filter(({ facadeModuleId }) => facadeModuleId?.endsWith(`/pages/${module}`) === true)
          .flatMap(({ fileName, imports }) => [fileName, ...imports])
          .filter((file) => !always.has(file))
          .map((file) => `/${file}`)
          .join(' ')
      const memory = filesOf('memory.ts')
      const groups = {
        home: filesOf('home.tsx'),
        recall: memory,
        beliefs: memory,
        later: filesOf('secondary-pages.ts'),
      }
      const attributes = Object.entries(groups).map(([name, files]) => `data-${name}="${files}"`)
      return html.replace('src="/start.js"', ['src="/start.js"', ...attributes].join(' '))
    },
  },
}

export default defineConfig({
  root: here,
  plugins: [routesOfServer, filesOfPages],
  // Without `development: false`, the code contains file names if NODE_ENV is not "production", as in the tests.
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
  build: {
    outDir: fileURLToPath(new URL('../dist/web', import.meta.url)),
    emptyOutDir: true,
    // These browsers support light-dark() and nesting, so the CSS is not transformed.
    target: ['chrome125', 'firefox128', 'safari17.5'],
    // Every asset must be a separate file: the content security policy forbids data: URLs and inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Shared code is one chunk, because each file costs a round trip and browsers send only six requests at a time.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 2 }] } } },
    reportCompressedSize: false,
  },
  server: {
    host: '127.0.0.1',
    // For development: run `credence serve --port 4777` together with `npx vite web`.
    proxy: { '/api': 'http://127.0.0.1:4777' },
  },
})

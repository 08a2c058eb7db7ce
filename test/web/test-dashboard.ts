import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { build } from 'vite'
import { expect } from 'vitest'
import { listen } from '../../src/http/listen.ts'
import { memoryFrom } from '../../src/memory/memory.ts'
import type { Author } from '../../src/memory/ports.ts'
import { startTestServer, token } from '../http/test-server.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { launchBrowser } from './browser.ts'

/**
 * Max wait for an expected state. Long, so that tests pass on a slow machine; only a failing test takes this long.
 */
const patienceMs = 30_000

const root = fileURLToPath(new URL('../..', import.meta.url))
/** The browser's message for an answer with a status of 4xx. Ignored, because tests cause such answers on purpose. */
const refusal = /^Failed to load resource: the server responded with a status of 4/

/** Serves the built pages from a real server with a demo memory in a real store, and starts a real browser. */
export async function openTestDashboard() {
  const directory = temporaryDirectory()
  const webDirectory = join(directory.path, 'web')
  await build({
    configFile: join(root, 'web/vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: webDirectory, emptyOutDir: true },
  })
  const server = await startTestServer({ webDirectory, pollEveryMs: 60 })
  const serve = (port: number) => listen((request) => server.app.fetch(request), { host: '127.0.0.1', port })
  let listening = await serve(0)
  const { url, port } = listening
  const browser = await launchBrowser()
  const problems: string[] = []

  return {
    server,
    webDirectory,
    browser,
    url,
    link: `${url}/#token=${token}`,
    /** Errors and warnings of all pages so far, such as script errors and violations of the content security policy. */
    problems,
    /** The memory for another author, who writes at the same time. */
    memoryAs: (author: Author = { actor: 'person', origin: 'elsewhere' }) =>
      memoryFrom(server.ports, { user: 'local', scopes: server.served.view.scopes, agent: null, author }),
    /** Opens a separate window, signed in, at a path. */
    window: async (
      path = '/beliefs',
      { at = url, ...options }: BrowserContextOptions & { readonly at?: string } = {},
    ): Promise<Page> => {
      const page = await blankWindow(browser, problems, options)
      await page.goto(`${at}${path}#token=${token}`)
      await page.locator('.shell').waitFor()
      return page
    },
    /** Stops the server; `start` starts it again on the same port. */
    stop: () => listening.close(),
    start: async () => {
      listening = await serve(port)
    },
    /** Opens a separate window that is not signed in. */
    stranger: (options: BrowserContextOptions = {}) => blankWindow(browser, problems, options),
    [Symbol.asyncDispose]: async () => {
      await browser.close()
      await listening.close()
      await server[Symbol.asyncDispose]()
      directory[Symbol.dispose]()
    },
  }
}

export type Dashboard = Awaited<ReturnType<typeof openTestDashboard>>

async function blankWindow(browser: Browser, problems: string[], options: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
  context.setDefaultTimeout(patienceMs)
  const page = await context.newPage()
  page.on('pageerror', (error) => problems.push(`${error.name}: ${error.message}`))
  page.on('console', (message) => {
    const isWorth = message.type() === 'error' || message.type() === 'warning'
    if (isWorth && !refusal.test(message.text())) problems.push(message.text())
  })
  return page
}

/** Waits until a text is visible. */
export const sees = async (place: Page | Locator, text: string | RegExp): Promise<void> =>
  place.getByText(text).first().waitFor()

/** Waits until a text is gone. */
export const missesNow = async (place: Page | Locator, text: string | RegExp): Promise<void> =>
  place.getByText(text).first().waitFor({ state: 'detached' })

/** Waits for a condition that no element of the page shows. */
export const eventually = <Value>(read: () => Value | Promise<Value>) => expect.poll(read, { timeout: patienceMs })

/** Goes to another page without reloading, like a link of the dashboard. */
export const go = async (page: Page, path: string): Promise<void> => {
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`,
  )
}

import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const executablePath = process.env.CREDENCE_CHROMIUM || '/usr/bin/chromium'

/** Why pages cannot be tested on this machine; null if they can. */
export const noBrowser = existsSync(executablePath)
  ? null
  : `there is no browser at ${executablePath}; CREDENCE_CHROMIUM names another`

if (noBrowser !== null) console.warn(`No page was tested: ${noBrowser}.`)

/** A real browser without background requests. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath,
    timeout: 120_000,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })

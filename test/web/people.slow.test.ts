import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { noBrowser } from './browser.ts'
import { type Dashboard, missesNow, openTestDashboard, sees } from './test-dashboard.ts'

describe.skipIf(noBrowser !== null)('the page of people and teams', () => {
  let dashboard: Dashboard
  let page: Page
  beforeAll(async () => {
    dashboard = await openTestDashboard()
    page = await dashboard.window('/people')
  })
  afterAll(() => dashboard[Symbol.asyncDispose]())
  afterEach(() => expect(dashboard.problems.splice(0)).toEqual([]))

  const panel = (name: string) => page.getByRole('region', { name, exact: true })
  const send = <Body>(method: string, path: string, body?: object) =>
    dashboard.server.send<Body>(method, `/api/v1${path}`, body === undefined ? {} : { body })

  it('adds a person with a token that is shown once, creates a team, revokes and removes', async () => {
    await sees(page, 'Nobody else uses this memory')
    await page.getByRole('button', { name: 'Add a person' }).click()
    await page.getByLabel('Name').fill('Ana Maria')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await sees(page, '"Ana Maria" is not the name of a person.')
    await page.getByLabel('Name').fill('ana')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await sees(page, 'Token of ana')
    const token = await page.locator('dialog code.command').textContent()
    await page.getByRole('button', { name: 'Done' }).click()
    await sees(panel('ana'), 'person')
    expect(token).toMatch(/^credence_\S{43}$/u)
    expect(await page.content()).not.toContain(token ?? '')

    await page.getByRole('button', { name: 'Create a team' }).click()
    await page.getByLabel('Name').fill('platform')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await sees(panel('Team platform'), 'ana, owner')

    await panel('ana')
      .getByRole('button', { name: /^Revoke/ })
      .click()
    await sees(panel('ana'), 'Revoked ')
    await panel('ana').getByRole('button', { name: 'Remove ana' }).click()
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await missesNow(page, 'ana, owner')
    expect(await send('GET', '/people')).toMatchObject({ status: 200, body: { items: [] } })
    expect(await send('GET', '/teams')).toMatchObject({ body: { items: [{ name: 'platform', members: [] }] } })
  })

  it('shows a person with a token the pages of their own memory', async () => {
    await send('POST', '/people', { name: 'ben' })
    const { body } = await send<{ secret: string }>('POST', '/tokens', { person: 'ben' })
    const own = await dashboard.stranger()
    await own.goto(`${dashboard.url}/#token=${body.secret}`)
    await sees(own, 'Nothing is remembered yet')

    const links = await own.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents()
    expect(links).toEqual(['Home', 'Recall', 'Beliefs', 'Review', 'Conversations', 'Journal', 'Status', 'People'])
    await missesNow(own, 'Connect your agent')
    await missesNow(own, 'MEMORY.md')
  })
})

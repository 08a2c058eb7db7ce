import { describe, expect, it } from 'vitest'
import { httpSystem, openHttpSystem } from '../../../src/eval/system/outside/http-system.ts'
import { belief, question } from './sample-records.ts'
import { answer, type Script, scriptedServer } from './scripted-http-server.ts'

const finds =
  (found: unknown): Script =>
  (_asked, response) =>
    answer(response, found)

const levain = belief('m-1', {
  name: 'sourdough_starter',
  aliases: ['levain', 'Gertrude'],
  content: 'Feeds it on Thursdays.',
  why: 'Plan around it.',
  scopes: ['domain:bread', 'domain:kitchen'],
  superseded_by: 'm-2',
})

describe('a memory with HTTP', () => {
  it('receives all fields of a belief', async () => {
    await using server = await scriptedServer(finds({}))
    const system = httpSystem({ url: server.url })

    await system.reset()
    await system.ingest([levain])

    expect(server.asked).toMatchObject([
      { method: 'DELETE', path: '/reset', body: null },
      {
        method: 'POST',
        path: '/add',
        body: {
          text: 'sourdough starter levain Gertrude Feeds it on Thursdays. Plan around it.',
          user_id: 'ada',
          aliases: ['levain', 'Gertrude'],
          metadata: {
            beliefId: 'm-1',
            scope: 'domain:bread',
            scopes: ['domain:bread', 'domain:kitchen'],
            name: 'sourdough_starter',
            content: 'Feeds it on Thursdays.',
            status: 'superseded',
            superseded_by: 'm-2',
            pinned: false,
          },
        },
      },
    ])
  })

  it('receives only the text, id and scope in the lean form', async () => {
    await using server = await scriptedServer(finds([]))
    const system = httpSystem({ url: server.url, fullMetadata: false })

    await system.ingest([levain])
    await system.recall(question('how is the levain?', { scopes: ['domain:bread', 'domain:kitchen'] }))

    expect(server.asked.map(({ body }) => body)).toEqual([
      {
        text: 'sourdough starter levain Gertrude Feeds it on Thursdays. Plan around it.',
        user_id: 'ada',
        aliases: ['levain', 'Gertrude'],
        metadata: { beliefId: 'm-1', scope: 'domain:bread' },
      },
      { query: 'how is the levain?', user_id: 'ada', limit: 20, scope: 'domain:bread' },
    ])
  })

  it('receives queries with the budget as limit, and with every scope', async () => {
    await using server = await scriptedServer(finds([]))
    const system = httpSystem({ url: server.url })

    await system.recall(question('x', { budget: { maxBeliefs: 3 }, scopes: ['domain:a', 'domain:b'] }))

    expect(server.asked).toEqual([
      {
        method: 'POST',
        path: '/search',
        body: { query: 'x', user_id: 'ada', limit: 3, scope: 'domain:a', scopes: ['domain:a', 'domain:b'] },
      },
    ])
  })

  it.each([
    ['a list of results', { results: [{ id: 'm-2' }, { id: 'm-1', score: 0.5 }] }],
    ['a bare list', [{ id: 'm-2' }, { id: 'm-1', score: 0.5, text: 'something', clauses: 'of another kind' }]],
    [
      'its own ids together with ours',
      [
        { id: 71, metadata: { beliefId: 'm-2' } },
        { id: '4', score: 0.5, metadata: { beliefId: 'm-1' } },
      ],
    ],
  ])('may answer with %s', async (_what, found) => {
    await using server = await scriptedServer(finds(found))

    const { relevant } = await httpSystem({ url: server.url }).recall(question('x'))

    expect(relevant).toEqual([
      { id: 'm-2', score: null },
      { id: 'm-1', score: 0.5 },
    ])
  })

  it('receives the whole of a changed belief', async () => {
    await using server = await scriptedServer(finds({}))
    const system = httpSystem({ url: server.url })
    await system.ingest([levain])

    const aliases = [...levain.aliases, 'the blob']
    await system.update({ kind: 'replace', belief: { ...levain, aliases, content: 'Feeds it daily.' } })
    await system.update({ kind: 'create', belief: belief('m-3') })

    expect(server.asked.slice(1)).toMatchObject([
      {
        method: 'PUT',
        path: '/update',
        body: {
          beliefId: 'm-1',
          text: 'sourdough starter levain Gertrude the blob Feeds it daily. Plan around it.',
          aliases: ['levain', 'Gertrude', 'the blob'],
          metadata: { beliefId: 'm-1', content: 'Feeds it daily.' },
        },
      },
      { method: 'POST', path: '/add', body: { metadata: { beliefId: 'm-3' } } },
    ])
  })

  it.each([404, 405, 501])('receives a changed belief again if it answers updates with %d', async (status) => {
    await using server = await scriptedServer(({ method }, response) =>
      answer(response, {}, method === 'PUT' ? status : 200),
    )
    const system = httpSystem({ url: server.url })
    await system.ingest([levain])

    await system.update({ kind: 'replace', belief: { ...levain, aliases: [...levain.aliases, 'the blob'] } })

    expect(server.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /add',
      'PUT /update',
      'POST /add',
    ])
    expect(server.asked.at(-1)).toMatchObject({ body: { aliases: ['levain', 'Gertrude', 'the blob'] } })
  })

  it('may be below a path', async () => {
    await using server = await scriptedServer(finds([]))

    await httpSystem({ url: `${server.url}/memory/v1/` }).recall(question('x'))

    expect(server.asked).toMatchObject([{ path: '/memory/v1/search' }])
  })
})

describe('a failing memory with HTTP', () => {
  const failing = async (script: Script): Promise<unknown> => {
    await using server = await scriptedServer(script)
    const system = httpSystem({ url: server.url, timeoutMs: 5_000 })
    return await system
      .recall(question('x'))
      .catch((error) => ({ ...error, message: error.message.replace(server.url, 'URL') }))
  }

  it.each<[string, Script, string]>([
    [
      'an error',
      (_asked, response) => answer(response, `{"detail": "${'x'.repeat(300)}"}`, 500),
      `POST URL/search answered 500: {"detail": "${'x'.repeat(188)}`,
    ],
    ['an error without a message', (_asked, response) => answer(response, '', 503), 'answered 503: (nothing)'],
    ['something other than JSON', finds('<html>'), 'answered 200 with something other than JSON: <html>'],
    ['half a document', finds('{"results": ['), 'something other than JSON'],
    ['another shape', finds({ hits: [] }), 'answered 200 with another shape: {"hits":[]}'],
    ['results without ids', finds([{ text: 'tea' }]), 'another shape'],
    ['unknown ids', finds([{ id: 7 }]), 'another shape'],
    ['results that are not objects', finds({ results: ['m-1'] }), 'another shape'],
    ['an invalid score', finds([{ id: 'm-1', score: 'high' }]), 'another shape'],
    [
      'a redirect',
      (_asked, response) => {
        response.writeHead(307, { location: 'http://127.0.0.1:1/elsewhere' })
        response.end()
      },
      'answered 307: (nothing) Redirects are not followed.',
    ],
    ['a broken connection', (_asked, response) => response.destroy(), 'POST URL/search failed: '],
    [
      'an answer that is too large',
      (_asked, response) => {
        const part = Buffer.alloc(1_000_000, ' ')
        for (let sent = 0; sent < 9; sent += 1) response.write(part)
        response.end()
      },
      'answered with more than 8000000 bytes',
    ],
  ])('is unavailable if it answers with %s', async (_what, script, reason) => {
    expect(await failing(script)).toMatchObject({ code: 'unavailable', message: expect.stringContaining(reason) })
  })

  it('does not follow a redirect to another server', async () => {
    await using other = await scriptedServer(finds([{ id: 'm-1' }]))
    await using server = await scriptedServer((_asked, response) => {
      response.writeHead(307, { location: `${other.url}/search` })
      response.end()
    })

    await expect(httpSystem({ url: server.url }).recall(question('x'))).rejects.toMatchObject({ code: 'unavailable' })
    expect(other.asked).toEqual([])
  })

  it.each<[string, Script]>([
    ['never answers', () => {}],
    [
      'stops in the middle of an answer',
      (_asked, response) => {
        response.writeHead(200)
        response.write('{"results": ')
      },
    ],
  ])('is unavailable if it %s', async (_what, script) => {
    await using server = await scriptedServer(script)

    await expect(httpSystem({ url: server.url, timeoutMs: 50 }).recall(question('x'))).rejects.toMatchObject({
      code: 'unavailable',
      message: `POST ${server.url}/search did not answer within 50 ms.`,
    })
  })

  it('is unavailable if no server listens', async () => {
    const server = await scriptedServer(finds([]))
    await server[Symbol.asyncDispose]()

    await expect(httpSystem({ url: server.url }).reset()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(`DELETE ${server.url}/reset failed: connect ECONNREFUSED`),
      hint: expect.stringContaining('running'),
    })
  })

  it('gets no more beliefs of a corpus after the first that it refuses', async () => {
    await using server = await scriptedServer(({ body }, response) =>
      answer(response, {}, JSON.stringify(body).includes('m-2') ? 422 : 200),
    )

    await expect(
      httpSystem({ url: server.url }).ingest([belief('m-1'), belief('m-2'), belief('m-3')]),
    ).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('/add answered 422') })
    expect(server.asked).toHaveLength(2)
  })
})

describe('an address', () => {
  it.each([
    '',
    'localhost:8080',
    '127.0.0.1:8080',
    'ftp://127.0.0.1',
    'file:///etc/passwd',
    'http://ada:secret@127.0.0.1',
    'http://127.0.0.1/?key=1',
    'http://127.0.0.1/#here',
  ])('is invalid as "%s"', (url) => {
    expect(() => httpSystem({ url })).toThrow(expect.objectContaining({ code: 'invalid' }))
  })

  it('is part of the name', () => {
    expect(httpSystem({ url: 'http://127.0.0.1:8080/' }).name).toBe('http-127-0-0-1-8080')
    expect(httpSystem({ url: 'https://memory.test/v1', fullMetadata: false }).name).toBe('http-lean-memory-test-v1')
  })
})

describe('the description that a memory behind HTTP returns', () => {
  const aboutOf = async (about: unknown, { status = 200, fullMetadata = true } = {}) => {
    await using server = await scriptedServer((_asked, response) => answer(response, about, status))
    const { name, version, offers } = await openHttpSystem({ url: server.url, fullMetadata })
    return { asked: server.asked.map(({ method, path }) => `${method} ${path}`), name, version, offers }
  }

  it('has a name, a version and its capabilities', async () => {
    const about = { name: 'notes', version: '1.2.3', offers: ['updates'] }

    expect(await aboutOf(about)).toEqual({ asked: ['GET /about'], ...about, name: 'http-notes' })
    expect(await aboutOf(about, { fullMetadata: false })).toMatchObject({ name: 'http-lean-notes', version: '1.2.3' })
  })

  it.each([
    ['{}', 200],
    ['<html></html>', 200],
    ['{"error":"no such route"}', 404],
  ])('may be missing: %s with status %d', async (body, status) => {
    expect(await aboutOf(body, { status })).toMatchObject({
      name: expect.stringMatching(/^http-127-0-0-1-\d+$/u),
      version: 'unknown',
      offers: undefined,
    })
  })

  it.each([[{ name: 'My notes' }], [{ version: 3 }], [{ offers: ['everything'] }]])(
    'is refused as %j',
    async (about) => {
      await expect(aboutOf(about)).rejects.toMatchObject({ code: 'unavailable' })
    },
  )

  it('is requested again by the run if there was no answer', async () => {
    expect(await openHttpSystem({ url: 'http://127.0.0.1:9' })).toMatchObject({ name: 'http-127-0-0-1-9' })
  })
})

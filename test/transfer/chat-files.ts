import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { zipSync } from 'fflate'

/** Files of conversations in the formats of their programs. */

export function write(directory: string, name: string, content: string | Uint8Array): string {
  const file = join(directory, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
  return file
}

export const jsonLines = (...values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('')

export const zipped = (files: Readonly<Record<string, string>>): Uint8Array =>
  zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)])))

const at = (minute: number): string => `2026-05-03T10:${String(minute).padStart(2, '0')}:00.000Z`

/** A session of Claude Code: a prompt, a tool step, an answer, and records that are not turns. */
export function claudeCodeSession(cwd: string, prompt: string, answer: string, session = 'cc-1'): string {
  const shared = { isSidechain: false, userType: 'external', cwd, sessionId: session, version: '2.1.325' }
  const line = (type: string, minute: number, content: unknown, more: object = {}) => ({
    parentUuid: null,
    ...shared,
    type,
    message: { role: type, content },
    uuid: `${session}-u${minute}`,
    timestamp: at(minute),
    ...more,
  })
  return jsonLines(
    { type: 'queue-operation', operation: 'enqueue', timestamp: at(0), sessionId: session, content: prompt },
    { ...shared, type: 'attachment', attachment: { type: 'date', date: '2026-05-03' }, uuid: 'x', timestamp: at(0) },
    line('user', 0, prompt),
    line('assistant', 1, [
      { type: 'thinking', thinking: 'Hmm.', signature: 's' },
      { type: 'tool_use', id: `${session}-t1`, name: 'Bash', input: { command: 'ls boats' } },
    ]),
    line('user', 2, [{ type: 'tool_result', tool_use_id: `${session}-t1`, content: 'kayak.txt' }]),
    line('assistant', 3, [{ type: 'text', text: answer }]),
    line('user', 4, '<command-name>/clear</command-name>'),
    line('user', 5, 'Search the whole repository for boats.', { isSidechain: true }),
    line('user', 6, 'This session is being continued from an earlier one.', { isCompactSummary: true }),
    { type: 'last-prompt', lastPrompt: prompt, leafUuid: 'x', sessionId: session },
  )
}

export function codexSession(cwd: string, prompt: string, answer: string): string {
  const item = (minute: number, payload: object) => ({ timestamp: at(minute), type: 'response_item', payload })
  const message = (role: string, type: string, text: string, id: string) => ({
    type: 'message',
    id,
    role,
    content: [{ type, text }],
  })
  return jsonLines(
    { timestamp: at(0), type: 'session_meta', payload: { id: 'cx-1', timestamp: at(0), cwd, cli_version: '0.166.0' } },
    { timestamp: at(0), type: 'event_msg', payload: { type: 'task_started' } },
    item(0, message('developer', 'input_text', '<skills_instructions>Use them.</skills_instructions>', 'm0')),
    item(
      0,
      message('user', 'input_text', '# AGENTS.md instructions for x\n\n<INSTRUCTIONS>Be brief.</INSTRUCTIONS>', 'm1'),
    ),
    item(0, message('user', 'input_text', `<environment_context>\n  <cwd>${cwd}</cwd>\n</environment_context>`, 'm2')),
    { timestamp: at(0), type: 'turn_context', payload: { cwd, model: 'm' } },
    item(1, message('user', 'input_text', prompt, 'm3')),
    { timestamp: at(1), type: 'event_msg', payload: { type: 'user_message', message: prompt, kind: 'plain' } },
    item(2, { type: 'function_call', id: 'f1', name: 'shell', arguments: '{"command":["ls"]}', call_id: 'c1' }),
    item(2, { type: 'function_call_output', call_id: 'c1', output: 'kayak.txt' }),
    item(3, { type: 'reasoning', summary: [], encrypted_content: 'x' }),
    item(3, message('assistant', 'output_text', answer, 'm4')),
  )
}

export function openclawSession(cwd: string, prompt: string, answer: string): string {
  const message = (id: string, minute: number, content: object) => ({
    type: 'message',
    id,
    parentId: null,
    timestamp: at(minute),
    message: content,
  })
  return jsonLines(
    { type: 'session', version: 3, id: 'oc-1', timestamp: at(0), cwd },
    { type: 'model_change', id: 'a0', parentId: null, timestamp: at(0), provider: 'p', modelId: 'm' },
    message('a1', 1, { role: 'user', content: [{ type: 'text', text: prompt }], timestamp: 1 }),
    message('a2', 2, {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hmm.' },
        { type: 'toolCall', id: 'k1', name: 'exec', arguments: { command: 'ls' } },
      ],
    }),
    message('a3', 3, { role: 'toolResult', toolCallId: 'k1', content: [{ type: 'text', text: 'kayak.txt' }] }),
    message('a4', 4, { role: 'assistant', content: [{ type: 'text', text: answer }] }),
  )
}

/** As written by Gemini CLI 0.61, with the context of a hook after the prompt. */
export function geminiSession(prompt: string, answer: string, session = 'ge-1'): string {
  const message = (id: string, minute: number, type: string, content: unknown, more: object = {}) => ({
    id,
    timestamp: at(minute),
    type,
    content,
    ...more,
  })
  const result = { functionResponse: { id: 'g1', name: 'list_directory', response: { output: 'kayak.txt' } } }
  const call = { id: 'g1', name: 'list_directory', args: { dir_path: 'ls' }, result: [result], status: 'success' }
  return jsonLines(
    { sessionId: session, projectHash: 'a742', startTime: at(0), lastUpdated: at(0), kind: 'main' },
    { $set: { messages: [message('m0', 0, 'user', [{ text: '<session_context>\nToday\n</session_context>' }])] } },
    message('m1', 1, 'user', [
      { text: prompt },
      { text: '<hook_context>&lt;memory&gt;\nboats\n&lt;/memory&gt;\n</hook_context>' },
    ]),
    { $set: { lastUpdated: at(1) } },
    message('m2', 2, 'gemini', '', { thoughts: [] }),
    message('m2', 2, 'gemini', '', { thoughts: [], toolCalls: [call] }),
    message('m3', 3, 'user', [result]),
    message('m4', 4, 'gemini', answer, { model: 'gemini-2.5-flash' }),
  )
}

export function cursorSession(prompt: string, answer: string): string {
  const line = (role: string, ...content: readonly object[]) => ({ role, message: { content } })
  const asked = `<timestamp>Sunday, May 3, 2026, 10:00 AM (UTC)</timestamp>\n<user_query>\n${prompt}\n</user_query>`
  return jsonLines(
    line('user', { type: 'text', text: asked }),
    line('assistant', { type: 'tool_use', name: 'Shell', input: { command: 'ls' } }),
    line('assistant', { type: 'text', text: answer }),
    { type: 'turn_ended', status: 'success' },
  )
}

/** The tables of opencode 1.18 that the import reads. The session of a subagent has a parent. */
export function writeOpencode(file: string, cwd: string, prompt: string, answer: string, session = 'op-1'): string {
  mkdirSync(dirname(file), { recursive: true })
  using database = new DatabaseSync(file)
  database.exec(`CREATE TABLE IF NOT EXISTS session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, time_updated integer NOT NULL);
    CREATE TABLE IF NOT EXISTS message (id text PRIMARY KEY, session_id text, time_created integer NOT NULL, data text NOT NULL);
    CREATE TABLE IF NOT EXISTS part (id text PRIMARY KEY, message_id text, data text NOT NULL)`)
  const add = (minute: number, role: string, ...parts: readonly object[]) => {
    const id = `${session}-m${minute}`
    const insert = database.prepare('INSERT INTO message VALUES (?, ?, ?, ?)')
    insert.run(id, session, Date.parse(at(minute)), JSON.stringify({ role }))
    for (const [index, part] of parts.entries())
      database.prepare('INSERT INTO part VALUES (?, ?, ?)').run(`${id}-p${index}`, id, JSON.stringify(part))
  }
  database.prepare('INSERT INTO session VALUES (?, NULL, ?, ?)').run(session, cwd, Date.parse(at(9)))
  database.prepare('INSERT INTO session VALUES (?, ?, ?, ?)').run(`${session}-child`, session, cwd, 1)
  database.prepare(`INSERT INTO message VALUES (?, ?, 1, '{"role":"user"}')`).run(`${session}-c`, `${session}-child`)
  database
    .prepare(`INSERT INTO part VALUES (?, ?, '{"type":"text","text":"Of a subagent."}')`)
    .run(`${session}-cp`, `${session}-c`)
  const state = { status: 'completed', input: { command: 'ls' }, output: 'kayak.txt' }
  add(1, 'user', { type: 'text', text: prompt }, { type: 'text', text: '<memory>\nboats\n', synthetic: true })
  add(2, 'assistant', { type: 'step-start' }, { type: 'tool', tool: 'bash', callID: `${session}-c1`, state })
  add(3, 'assistant', { type: 'reasoning', text: 'Hmm.' }, { type: 'text', text: answer })
  return file
}

/** A conversation of ChatGPT whose question was edited once: the branch shown last is not the first one. */
export function chatgptConversation(prompt: string, answer: string, id = 'cg-1'): object {
  const node = (name: string, parent: string | null, children: readonly string[], message: object | null) => ({
    [name]: { id: name, message, parent, children },
  })
  const message = (name: string, role: string, seconds: number, text: string, more: object = {}) => ({
    id: `${id}-${name}`,
    author: { role, name: null, metadata: {} },
    create_time: 1_777_802_400 + seconds,
    content: { content_type: 'text', parts: [text] },
    status: 'finished_successfully',
    recipient: 'all',
    metadata: {},
    ...more,
  })
  return {
    title: 'Boats',
    create_time: 1_777_802_400.5,
    conversation_id: id,
    current_node: 'n5',
    mapping: {
      ...node('root', null, ['n0'], null),
      ...node('n0', 'root', ['n1', 'n2'], {
        ...message('n0', 'system', 0, 'You are ChatGPT.'),
        metadata: { is_visually_hidden_from_conversation: true },
      }),
      ...node('n1', 'n0', [], message('n1', 'user', 1, 'The first try, which was edited.')),
      ...node('n2', 'n0', ['n3'], message('n2', 'user', 2, prompt)),
      ...node('n3', 'n2', ['n4'], {
        ...message('n3', 'assistant', 3, ''),
        recipient: 'python',
        content: { content_type: 'code', language: 'python', text: 'print("kayak.txt")' },
      }),
      ...node('n4', 'n3', ['n5'], {
        ...message('n4', 'tool', 4, ''),
        content: { content_type: 'execution_output', text: 'kayak.txt' },
      }),
      ...node('n5', 'n4', [], message('n5', 'assistant', 5, answer)),
    },
  }
}

export function claudeConversation(prompt: string, answer: string, id = 'cl-1'): object {
  const message = (sender: string, minute: number, text: string, more: object = {}) => ({
    uuid: `${id}-${minute}`,
    text,
    content: [{ type: 'text', text, start_timestamp: at(minute) }],
    sender,
    created_at: at(minute),
    updated_at: at(minute),
    attachments: [],
    files: [],
    ...more,
  })
  return {
    uuid: id,
    name: 'Boats',
    created_at: at(0),
    updated_at: at(9),
    account: { uuid: 'acc' },
    chat_messages: [
      message('human', 1, prompt, {
        attachments: [{ file_name: 'boats.txt', file_type: 'txt', extracted_content: 'Always paint boats red.' }],
      }),
      message('assistant', 2, answer),
    ],
  }
}

// Credence as a plugin of opencode: adds recalled context after each prompt, and stores prompts and answers. It runs the
// same hooks as other hosts, as commands: `command` starts Credence, `options` are passed to every command.
import { spawn } from 'node:child_process'

/** A hook answers within 300 ms; a busy machine may take longer to start it. */
const maxHookMs = 5_000

const plugin = {
  id: 'credence',
  server: async ({ client, directory }, { command = ['credence'], options = [] } = {}) => {
    const started = new Set()
    /** The context of each prompt, by the id of its message. It is added to requests only, not to the conversation. */
    const contexts = new Map()
    const run = (event, payload) => runHook([...command, 'hook', event, '--host', 'opencode', ...options], payload)
    const contextOf = async (event, payload) => {
      const answer = await run(event, { cwd: directory, ...payload })
      return answer?.hookSpecificOutput?.additionalContext ?? ''
    }
    return {
      'chat.message': async ({ sessionID }, { message, parts }) => {
        const prompt = parts
          .flatMap(({ type, text, synthetic }) => (type === 'text' && synthetic !== true ? [text] : []))
          .join('\n')
        if (prompt.trim() === '') return
        const context = [
          started.has(sessionID) ? '' : await contextOf('session-start', { session_id: sessionID }),
          await contextOf('prompt-submit', { session_id: sessionID, prompt }),
        ].join('')
        started.add(sessionID)
        if (context !== '') contexts.set(message.id, context)
      },
      // Not called for the request that makes the title of a conversation.
      'experimental.chat.messages.transform': async (_input, { messages }) => {
        for (const { info, parts } of messages) {
          const text = contexts.get(info.id)
          const { sessionID, id: messageID } = info
          if (text === undefined) continue
          parts.push({ id: `prt_credence_${messageID}`, sessionID, messageID, type: 'text', text, synthetic: true })
        }
      },
      event: async ({ event }) => {
        if (event.type !== 'session.idle') return
        const { sessionID } = event.properties
        const answer = await lastAnswer(client, sessionID)
        if (answer !== '') await run('stop', { cwd: directory, session_id: sessionID, last_assistant_message: answer })
      },
      'experimental.session.compacting': async ({ sessionID }) => {
        await run('pre-compact', { cwd: directory, session_id: sessionID })
      },
    }
  },
}

export default plugin

async function lastAnswer(client, sessionID) {
  const { data = [] } = await client.session.messages({ path: { id: sessionID } })
  const last = data.findLast(({ info }) => info.role === 'assistant')
  return (last?.parts ?? []).flatMap(({ type, text }) => (type === 'text' ? [text] : [])).join('\n\n')
}

/** Runs a hook and returns the JSON that it prints; null if it prints none. A failing hook must not stop opencode. */
function runHook([program, ...args], payload) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'], timeout: maxHookMs })
    const chunks = []
    child.on('error', () => resolve(null))
    child.stdin.on('error', () => {})
    child.stdout.on('data', (chunk) => chunks.push(chunk))
    child.on('close', () => {
      try {
        resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')))
      } catch {
        resolve(null)
      }
    })
    child.stdin.end(JSON.stringify(payload))
  })
}

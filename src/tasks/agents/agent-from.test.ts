import { describe, expect, it } from 'vitest'
import type { ChatModel } from '../../models/chat-model.ts'
import { openMemory } from '../../open-memory.ts'
import { noneAgent } from '../agent.ts'
import { type AgentParts, agentForms, openAgent } from './agent-from.ts'

const wanted: unknown[] = []
const parts: AgentParts = {
  reference: () => ({ ...noneAgent, name: 'reference' }),
  openModel: (asked): ChatModel => {
    wanted.push(asked)
    return { provider: asked.provider, model: asked.model, reply: () => Promise.reject(new Error('not asked')) }
  },
  openMemory: (dir) => openMemory({ dir }),
  environment: { PATH: '/bin' },
  workingDirectory: '/work',
}

describe('naming an agent', () => {
  it.each([
    ['reference', 'reference', null],
    ['none', 'none', null],
    ['command:sh -c "cat {file}"', 'command:sh', null],
    ['openai:gpt-5', 'openai', 'gpt-5'],
    ['anthropic:claude-opus', 'anthropic', 'claude-opus'],
    ['openclaw', 'openclaw', null],
    ['openclaw:openrouter/some/model', 'openclaw', 'openrouter/some/model'],
    ['claude-code:opus', 'claude-code', 'opus'],
  ])('finds %s', async (spec, name, model) => {
    expect(await openAgent(spec, parts)).toMatchObject({ name, model })
  })

  it('splits model and endpoint', async () => {
    await openAgent('openai:org/model:free@http://127.0.0.1:8080/v1', parts)

    expect(wanted.at(-1)).toEqual({ provider: 'openai', model: 'org/model:free', url: 'http://127.0.0.1:8080/v1' })
  })

  it.each([
    ['refrence', 'Did you mean reference?'],
    ['claude', 'Did you mean claude-code[:<model>]?'],
    ['gpt', agentForms.openclaw],
    ['openai', 'Write openai:<model>'],
    ['anthropic:', 'Write openai:<model>'],
    ['openai:model@http://elsewhere', 'Use https, or http://127.0.0.1.'],
    ['none:really', 'Write none.'],
    ['reference:no-memory', 'Write reference.'],
    ['command:', 'Write for example'],
    ['', 'There are reference'],
  ])('reports the right form for %s', async (spec, hint) => {
    await expect(openAgent(spec, parts)).rejects.toMatchObject({ code: 'invalid', hint: expect.stringContaining(hint) })
  })

  it.each(['command:sh', 'openclaw', 'claude-code'])('passes variables of the environment to %s', async (spec) => {
    const environment = { PATH: '/bin', MY_KEY: 'k', EMPTY: '' }

    expect(await openAgent(spec, { ...parts, environment, passThrough: ['MY_KEY', 'EMPTY'] })).toBeDefined()
    await expect(
      openAgent(spec, { ...parts, environment, passThrough: ['MY_KEY', 'MISSING', 'GONE'] }),
    ).rejects.toMatchObject({ code: 'invalid', message: 'Not set in the environment: MISSING, GONE.' })
  })

  it('passes no variables to an agent that is not a program', async () => {
    await expect(openAgent('reference', { ...parts, passThrough: ['PATH'] })).rejects.toMatchObject({
      code: 'invalid',
      message: 'The agent reference is not a program, so PATH cannot be passed to it.',
      hint: 'Variables are passed to command, openclaw, claude-code.',
    })
  })
})

import { didYouMean } from '../../did-you-mean.ts'
import { MemoryError } from '../../errors.ts'
import type { ChatModel } from '../../models/chat-model.ts'
import { type ModelSpec, parseModelSpec } from '../../models/model-spec.ts'
import { type Agent, noneAgent } from '../agent.ts'
import type { UsedMemory } from './tool-loop-agent.ts'

export type AgentParts = {
  readonly reference: (options: { readonly hasMemory: boolean }) => Agent | Promise<Agent>
  readonly openModel: (wanted: ModelSpec) => ChatModel | Promise<ChatModel>
  readonly openMemory: (directory: string) => UsedMemory | Promise<UsedMemory>
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Names of further environment variables for an agent that is a program. */
  readonly passThrough?: readonly string[]
  /** Relative paths begin here. */
  readonly workingDirectory: string
}

/** The agents that `--agent` knows, and how each is written. */
export const agentForms = {
  reference: 'reference[:no-memory]',
  none: 'none',
  command: "'command:<program> <words with {prompt}, {file}, {session}, {workspace}>'",
  openai: 'openai:<model>[@<url>]',
  anthropic: 'anthropic:<model>[@<url>]',
  openclaw: 'openclaw[:<model>]',
  'claude-code': 'claude-code[:<model>]',
} as const

type AgentName = keyof typeof agentForms
type ProgramName = 'command' | 'openclaw' | 'claude-code'

const programs: readonly string[] = ['command', 'openclaw', 'claude-code'] satisfies ProgramName[]

/** Opens the agent that a text such as `openai:gpt-5@http://127.0.0.1:8080/v1` names. */
export async function agentFrom(spec: string, parts: AgentParts): Promise<Agent> {
  const [, given = '', rest = ''] = /^([^:]*)(?::(.*))?$/su.exec(spec) ?? []
  if (!Object.hasOwn(agentForms, given)) throw unknownAgent(spec, given)
  const name = given as AgentName
  const wanted = rest.trim()
  checkPassed(name, parts)
  switch (name) {
    case 'reference':
      if (wanted !== '' && wanted !== 'no-memory') throw wrongForm(name, spec)
      return parts.reference({ hasMemory: wanted === '' })
    case 'none':
      if (wanted !== '') throw wrongForm(name, spec)
      return noneAgent
    case 'openai':
    case 'anthropic': {
      const model = await parts.openModel(parseModelSpec(spec))
      const { toolLoopAgent } = await import('./tool-loop-agent.ts')
      return toolLoopAgent({ model, openMemory: parts.openMemory })
    }
    case 'command':
    case 'openclaw':
    case 'claude-code':
      return programFrom(name, wanted, parts)
  }
}

async function programFrom(
  name: ProgramName,
  wanted: string,
  { environment, workingDirectory, passThrough = [] }: AgentParts,
): Promise<Agent> {
  const { commandAgent } = await import('./command/command-agent.ts')
  const { anyCommand, claudeCode } = await import('./command/profiles.ts')
  const model = wanted === '' ? null : wanted
  const profile =
    name === 'command'
      ? anyCommand(wanted, { workingDirectory })
      : name === 'claude-code'
        ? claudeCode(model)
        : (await import('./command/openclaw.ts')).openclaw(model, environment)
  return commandAgent({ ...profile, passThrough: [...profile.passThrough, ...passThrough] }, environment)
}

/** Refuses variables that are not set, which would make the agent fail much later. */
function checkPassed(name: AgentName, { environment, passThrough = [] }: AgentParts): void {
  const [first] = passThrough
  if (first === undefined) return
  if (!programs.includes(name)) {
    throw new MemoryError('invalid', `The agent ${name} is no program, so ${first} cannot be passed to it.`, {
      hint: `Variables are passed to ${programs.join(', ')}.`,
    })
  }
  const missing = passThrough.filter((variable) => environment[variable] === undefined)
  if (missing.length === 0) return
  throw new MemoryError('invalid', `Not set in the environment: ${missing.join(', ')}.`, {
    hint: 'Set it before the command, or do not pass it.',
  })
}

const wrongForm = (name: AgentName, spec: string): MemoryError =>
  new MemoryError('invalid', `"${spec}" is not a valid agent.`, { hint: `Write ${agentForms[name]}.` })

function unknownAgent(spec: string, given: string): MemoryError {
  const meant = didYouMean(given, Object.keys(agentForms))
  const all = `There are ${Object.values(agentForms).join(', ')}.`
  return new MemoryError('invalid', `There is no agent "${spec}".`, {
    hint: meant === undefined ? all : `Did you mean ${agentForms[meant as keyof typeof agentForms]}? ${all}`,
  })
}

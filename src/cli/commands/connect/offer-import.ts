import { type ExitCode, exitCodes } from '../../command/command.ts'
import { type AgentHistory, findHistories, historiesText, importText, lastImport, noteImport } from '../../histories.ts'
import { placeArguments, startedNote, startVectors } from '../../new-vectors.ts'
import type { LocationOptions, Session } from '../../session.ts'
import { lines, pluralize } from '../../text/output.ts'
import { importHistories } from '../conversation/import-chats.ts'

/** The number of turns to import first, enough for a useful recall. The rest is imported in the background. */
const firstTurns = 1_000

type Offer = {
  /** For `--json`. */
  readonly document: {
    readonly histories: readonly Omit<AgentHistory, 'files'>[]
    readonly imported: { readonly turns: number; readonly remainingFiles: number } | null
  }
  readonly text: string
  readonly exitCode?: ExitCode
}

/**
 * Shows the histories on this machine, asks once whether to import them, and imports the newest. A background process
 * imports the rest. With `show`, or if nobody can be asked, only shows the histories and the command.
 */
export async function offerImport(
  session: Session,
  options: LocationOptions,
  how: 'ask' | 'import' | 'show',
): Promise<Offer> {
  const { dir } = session.places.locate(options)
  const isWanted = how === 'import'
  const known = lastImport(dir)
  const histories = known === null || isWanted ? findHistories(session.program.machine) : []
  const document = { histories: histories.map(({ files: _files, ...rest }) => rest), imported: null }
  if (histories.length === 0) {
    const progress = await importText(dir)
    return { document, text: progress === null ? '' : `Import of your conversations: ${progress}.` }
  }
  const found = lines('Conversations on this machine:', historiesText(histories))
  const canAsk = how === 'ask' && session.terminal.isInteractive() && !session.terminal.printsJson()
  if (!isWanted && !canAsk) return { document, text: lines(found, 'To import them: `credence import chats`') }
  if (!isWanted && !(await session.terminal.confirm(lines(found, 'Import them into the memory?')))) {
    if (await session.places.hasMemory(options)) noteImport(dir, { outcome: 'declined' })
    return { document, text: 'Nothing was imported. `credence import chats` does it later.' }
  }
  const { heard, remaining } = await importHistories(session, options, firstTurns)
  // If files remain, the background import also computes the vectors.
  const started = remaining > 0 || heard.wasInterrupted ? 0 : await startVectors(session, options)
  const imported = { turns: heard.kept, remainingFiles: remaining }
  if (heard.wasInterrupted) {
    const text = `Interrupted after ${pluralize(heard.kept, 'turn')}; \`credence import chats\` continues.`
    return { document: { ...document, imported }, text, exitCode: exitCodes.interrupted }
  }
  if (remaining > 0) await session.program.startDetached(['import', 'chats', ...placeArguments(options)])
  return {
    document: { ...document, imported },
    text: lines(
      isWanted && found,
      `Imported ${pluralize(heard.kept, 'turn')}, the newest first.`,
      remaining > 0 &&
        `${pluralize(remaining, 'file')} more are imported in the background; \`credence status\` shows how far it is.`,
      started > 0 && startedNote(started),
      heard.learnedCount > 0 && `\`credence review\` shows ${pluralize(heard.learnedCount, 'statement')} found so far.`,
    ),
  }
}

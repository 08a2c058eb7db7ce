import { z } from 'zod'
import { limits } from '../memory/change/draft.ts'

/** A scope an agent names itself. */
export const scopeArgument = z
  .string()
  .max(200)
  .optional()
  .describe(
    'Only when the person speaks of another scope than the usual ones, such as domain:code or project:ledger. Leave it out otherwise.',
  )

/** A belief that already exists. */
export const idArgument = z
  .string()
  .min(1)
  .max(200)
  .describe('The id of the belief, as memory_search gives it; its exact name works too.')

export const keyArgument = z
  .string()
  .min(1)
  .max(200)
  .optional()
  .describe('Makes a retry harmless: the same call with the same key has one effect.')

export const contentArgument = z
  .string()
  .min(1)
  .max(limits.content)
  .describe("What is true, as one short statement, in the person's own words where there are any.")

export const whyArgument = z.string().max(limits.why).optional().describe('What an agent should do about it.')

export const aliasesArgument = z
  .array(z.string().max(limits.alias))
  .max(50)
  .optional()
  .describe('Other words people use for it. It is recalled only when one of them, or the name, is said.')

export const confidenceArgument = z
  .number()
  .min(0)
  .max(1)
  .optional()
  .describe('How certain it is; 1 unless you doubt it.')

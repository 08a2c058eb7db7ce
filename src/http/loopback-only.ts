import type { MiddlewareHandler } from 'hono'
import { refuse } from './error-answers.ts'

const names: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/**
 * Answers only programs on this machine. A page in a browser can reach a loopback port too, under a name of its own
 * (DNS rebinding) or with its origin in the request, so both are checked.
 */
export const loopbackOnly: MiddlewareHandler = async (context, next) => {
  const host = context.req.header('host')
  if (host === undefined || !isLoopback(`http://${host}`))
    return refuse(context, 403, {
      code: 'forbidden',
      message: `The host "${(host ?? '').slice(0, 80)}" is not this machine.`,
      hint: `Ask for ${names.join(', ')}.`,
    })
  const origin = context.req.header('origin')
  if (origin !== undefined && !isLoopback(origin))
    return refuse(context, 403, {
      code: 'forbidden',
      message: `Pages of "${origin.slice(0, 80)}" may not ask.`,
      hint: 'Ask from a program on this machine.',
    })
  return next()
}

const isLoopback = (address: string): boolean => URL.canParse(address) && names.includes(new URL(address).hostname)

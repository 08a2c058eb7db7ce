import { describe, expect, it } from 'vitest'
import { masked, redacted, secretIn, secretsIn } from './secrets.ts'

describe('what is a secret', () => {
  it.each([
    'the key is sk-proj-4f9aT2kLmQ8xZ7',
    'use AKIAIOSFODNN7EXAMPLE for the bucket',
    'token: ghp_abcdefghijklmnopqrstuvwxyz0123456789',
    '-----BEGIN OPENSSH PRIVATE KEY-----',
    'postgres://admin:hunter2@db.example/app',
    'Authorization: Bearer abcdef0123456789abcdef',
    'my password is Tr0ub4dor&3',
    'password: correct-horse-9',
    'The wifi password is hunter2xx',
    'my card number is 4111 1111 1111 1111',
    '5500-0000-0000-0004 is my card',
    'my PIN is 4711',
    'my SSN is 078-05-1120',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N',
    'our seed phrase is witch collapse practice feed',
    'My card number is 5105 1051 0510 5100.',
    'pay with 4012888888881881, exp 03/29',
    'Please use my IBAN GB29 NWBK 6016 1331 9268 19.',
    'send it to NL91 ABNA 0417 1643 00 please',
    'iban: FR1420041010050500013M02606',
    'The login for the shop is mia@shop.example / lemon42',
    'username: mia / lemon-42',
    'gpg passphrase: quiet rivers bend north',
    'The passphrase for my laptop is seven tall pines',
    'STRIPE_SECRET=abcd1234efgh',
    'export DB_PASSWORD="pa55word"',
    'the azure key is Zk3v8QmT1xYb7LrNw2Pd',
    'PIN 8080',
    "my card's cvv 321",
    'The safe combination is 22-07-91.',
    'user mia, password lemon42',
  ])('%s', (text) => {
    expect(secretIn(text)).not.toBeNull()
  })
})

describe('what is none', () => {
  it.each([
    'our code phrase is "purple elephant sunrise"',
    'the safe word is marmalade',
    'the password is stored in the vault',
    'the token is refreshed every hour',
    'we keep passwords in Bitwarden',
    'the door code is 4711',
    'my order number is 4029357733',
    'call me on 0161 496 0000',
    'the launch is on 2026-03-14',
    'ISBN 978-3-16-148410-0',
    'my mentor is Dr. Elena Vasquez from Stanford',
    'the API key is kept by Ana',
    'my pin board is full',
    'our motto is "slow is smooth"',
    'the passphrase is stored in the safe',
    'the login page is at example.org/sign-in',
    'the flight is TP 567 on 6 June 2025',
    'the order key is brass',
    'room DE12 is on the third floor',
    'the password of our chess club is "four angry rooks"',
  ])('%s', (text) => {
    expect(secretIn(text)).toBeNull()
  })
})

describe('a text without its secrets', () => {
  it('is as long as before, and keeps everything else', () => {
    const text = 'My bank card is 5105 1051 0510 5100, and my cat is Mo.'

    expect(masked(text)).toHaveLength(text.length)
    expect(redacted(text)).toBe('My bank card is …, and my cat is Mo.')
    expect(secretsIn(masked(text))).toEqual([])
  })
})

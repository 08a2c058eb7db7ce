import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { searchWrittenSecrets } from './secret-patterns.ts'
import {
  describeSecret,
  findSecretIn,
  findSecrets,
  maskId,
  maskSecrets,
  maskSecretsInSlices,
  redactSecrets,
} from './secrets.ts'

/** Whether the check digit of a card number is right (ISO/IEC 7812). */
const passesLuhn = (number: string): boolean =>
  [...number].reverse().reduce((sum, character, index) => {
    const value = Number(character) * (index % 2 === 0 ? 1 : 2)
    return sum + (value > 9 ? value - 9 : value)
  }, 0) %
    10 ===
  0

describe('a secret', () => {
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
    'Authorization: Basic bWlhOmxlbW9uNDI=',
    `Authorization: Basic ${Buffer.from('mia:lemon').toString('base64')}`,
    '{"db_password": "u8Kq-92!mWz0xLpT4", "port": 5432}',
    "const clientSecret = 'u8Kq92mWz0xLpT4'",
    'redis://:hunter22@cache.example/0',
    '3782-822463-10005 is the company card',
    'router pw: t9Kq2Wm7Zr',
    'MAIL_PW=t9Kq2Wm7Zr',
    'WIFI:T:WPA;S:CasaNoa;P:mosquito-bay-lamp;;',
    'WIFI:S:Home\\;net;P:plum\\;tree;T:WPA;;',
    'to restore my wallet enter walnut orbit tuna lumber cactus viola gravity ethics maple dune rocket silver',
    'https://portal.example/magic?token=brisk-otter-seven-lamps',
    'https://portal.example/magic-login/q7h2m9x4k1v8w3z6 is that safe?',
    'a nyaraló wifi jelszava kiskacsa-fürdik-88, írd meg',
    'the admin password for the till is blue kettle 77 rain, can you remind me',
    'post to hooks.slack.com/services/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',
    'the app password of the mail is qbdj-wvxk-ahtz-nmpe and works',
    'the bank sandbox secret is 9f2c1e7ab34d5f60718293a4b5c6d7',
    'can you use 58a647a9984019307732 as the chat token for now?',
    'I changed our build token today, the new one is q7h2m9x4k1v8, please tell Ana.',
    'AZURE_DEVOPS_EXT_PAT=u2k9d7f3h1s8q4w6z0x5c7v9b3n1m6l8',
    'TWITCH_OAUTH=q7h2m9x4k1v8w3z6',
    '{"name": "CI_PAT", "value": "0f8fad5b-d9cb-469f-a165-70867728950e"}',
    '  wifiPsk: 8789e796a8593e031551d8ff55dc3d48',
    'X-Api-Key: 8789e796a8593e031551d8ff55dc3d48',
    'Server=db;User_Id=sa;Password=zyEsEUO2BaVXCqEF;Encrypt=true',
    'admin:$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW',
    '$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHRzb21lc2E$RdescudvJCsgt3ub+b1dWRWJTmaaJObG',
    'licence A3-XT5QF9-K2M8PZ-7RW3T-9QLVB-H4N6C-D8SJ2 for the vault',
  ])('is found: %s', (text) => {
    expect(describeSecret(text)).not.toBeNull()
  })
})

describe('a text that is not a secret', () => {
  it.each([
    'our code phrase is "purple elephant sunrise"',
    'the safe word is marmalade',
    'the password is at least 12 characters',
    'password: minimum 8 characters, one digit',
    'the password is changed every 90 days.',
    'WIFI: T is the type, P the password of the code',
    'https://portal.example/login/forgotten-password-help',
    'https://portal.example/sign-in?next=/orders/2024-05-01',
    'my wallet holds what people need when they travel like cards, keys, coins and one small photo from home',
    'the password is stored in the vault',
    'the token is refreshed every hour',
    'we keep passwords in Bitwarden',
    'the door code is 4711',
    'the inverter has 4 kW and 12 PW: see the sheet',
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
    'the post some-blog-post-name is online',
    'the fix for the token is in commit 9f2c1e7ab34d5f60718293a4b5c6d7e8f9012345',
    'the key file has the checksum 8789e796a8593e031551d8ff55dc3d48',
    'the key event was logged at 2014-06-29T08:08:26Z',
    'the token test is in tests/m2m_and_m2o/models2b.py',
    'from django.contrib.auth import AbstractBaseUser',
    'an API token for https://upload.pypi.org/legacy/',
    "password = request.form['password']",
    'password = settings.database.password',
    'SECRET_KEY = os.environ.get("SECRET_KEY")',
    'export API_KEY=$OTHER_KEY',
    'API_KEY=<your key here>',
    'client_secret = "your-client-secret"',
    'MAX_TOKENS=4096',
    'PASS: Blueprint was created',
    'their credentials are up-to-date and valid',
    'fixed in commit 9f2c1e7ab34d5f60718293a4b5c6d7e8f9012345',
    'the request id is 7f3b2a10-9c4d-4e5f-8a6b-1c2d3e4f5a6b',
    'the tool call with the id toolu_01AbCdEfGhIjKlMnOpQrStUv returned',
    'the sheet ID is 1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms',
    'watch https://www.youtube.com/watch?v=dQw4w9WgXcQ',
    'watch youtu.be/dQw4w9WgXcQ, then docs.google.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit',
    'FROM ghcr.io/acme/app:main-9f2c1e7ab34d5f60718293a4b5c6d7e8f9012345',
    'the image of commit build-9f2c1e7ab34d5f60718293a4b5c6d7e8f9012345 is green',
    'the host has SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8, its fingerprint on the sticker',
    'node@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'GET /_next/static/chunks/pages/_app-2c3D4e5F6a7B8c9D.js was not found',
    'GuitarLessons365 and 3Blue1Brown, iPhone15ProMax2, getUserById2FromApiV3',
    'the tracking number is 1Z999AA10123456784',
    'doi:10.1038/s41564-018-0307-3, ISBN 978-94-6265-116-6',
    'the percentiles are 5 10 15 20 25 30 40 50 60 70 80 90',
    'the block timestamp is 1582800007000000',
    'I play a Kawai ES110 are excellent choices',
    '"integrity": "sha512-9Xc1XWm1n0yT3rWhu2Jn3yNqEXAMVXB2cBqKfyQkXlJ5YEXAMbJ8a8rJ8oFq0fQ=="',
    'the cache key is user:42:profile',
    "type Owner = 'user' | 'project-2'; type Login = { account: 'none' | 'team-1' }",
    'src/login/credential-formats.ts |  6 +++---',
    '"title_key": "The_Lord_of_the_Rings"',
    'a basic understanding of the tokens that matter',
  ])('is not masked: %s', (text) => {
    expect(describeSecret(text)).toBeNull()
  })
})

describe('masking secrets', () => {
  it('keeps the length, and the rest of the text', () => {
    const text = 'My bank card is 5105 1051 0510 5100, and my cat is Mo.'

    expect(maskSecrets(text)).toHaveLength(text.length)
    expect(redactSecrets(text)).toBe('My bank card is …, and my cat is Mo.')
    expect(findSecrets(maskSecrets(text))).toEqual([])
  })

  it('treats overlapping secrets as one', () => {
    const text = 'DEPLOY_KEY="-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"'

    expect(redactSecrets(text)).toBe('DEPLOY_KEY="…"')
  })

  it('treats a secret within a longer one as part of it', () => {
    const key = `-----BEGIN RSA PRIVATE KEY-----\\nAKIAIOSFODNN7EXAMPLE\\n${'QmFzZTY0'.repeat(8)}\\n-----END RSA PRIVATE KEY-----`
    const text = `{"service": {"private_key": "${key}", "port": 5432}}`

    expect(redactSecrets(text)).toBe('{"service": {"private_key": "…", "port": 5432}}')
  })

  it('covers both if the second begins within the first', () => {
    const address = 'postgres://app:u8Kq92mWz0xLpT4v@db.example/app?token=q7h2m9x4k1v8w3z6'

    expect(redactSecrets(`use ${address}, please`)).toBe('use …, please')
  })

  it.each([13, 14, 15, 16, 17, 18, 19])('covers a card number of %i digits', (length) => {
    const body = '4539148803436467391'.slice(0, length - 1)
    const number = Array.from({ length: 10 }, (_, digit) => `${body}${digit}`).find((one) => passesLuhn(one))

    expect(redactSecrets(`my card is ${number}.`)).toBe('my card is ….')
  })

  it.each(['base64', 'hex'] as const)('covers %s with invisible characters', (encoding) => {
    const encoded = Buffer.from('PORT=8080\nDB_PASSWORD=u8Kq92mWz0xL\n').toString(encoding)
    const written = encoded.replace(/.{5}(?=.)/gu, '$&\u200b')

    expect(redactSecrets(`The file: ${written} That is all.`)).toBe('The file: … That is all.')
  })

  it.each([
    ['full-width', 0xff21 - 65, 0xff10 - 48],
    ['mathematical', 0x1d5a0 - 65, 0x1d7e2 - 48],
  ])('covers %s letters and digits', (_, letters, digits) => {
    const key = 'AKIAIOSFODNN7EXAMPLE'
    const written = [...key].map((character) =>
      String.fromCodePoint((character.codePointAt(0) as number) + (/\d/u.test(character) ? digits : letters)),
    )

    expect(redactSecrets(`use ${written.join('')} for the bucket`)).toBe('use … for the bucket')
  })

  it('covers base64 as it was written, also across lines', () => {
    const settings = Buffer.from(`PORT=8080\nDB_PASSWORD=${'u8Kq92mW'.repeat(12)}\n`).toString('base64')
    const lines = settings.replace(/.{76}/gu, '$&\n')

    expect(lines).toContain('\n')
    expect(redactSecrets(`The file:\n${lines}\nThat is all.`)).toBe('The file:\n…\nThat is all.')
  })

  it('keeps the length, and masking again changes nothing, for any text', () => {
    const pieces = [
      'password',
      'token',
      ' is ',
      ': ',
      '=',
      '"',
      "'",
      '\n',
      '\u200b',
      '😀',
      'AKIA',
      'sk-',
      '://',
      '@',
      'PIN ',
    ]
    const word = fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary' }), fc.base64String({ minLength: 16 }))
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words) => {
        const text = words.join('')
        const once = maskSecrets(text)

        expect(once).toHaveLength(text.length)
        expect(maskSecrets(once)).toBe(once)
      }),
    )
  })
})

describe('an id', () => {
  it('is unchanged without a secret, and stays distinct from others with one', () => {
    const [one, other] = ['a', 'b'].map((letter) => `AKIA${letter.toUpperCase().repeat(16)}`) as [string, string]

    expect(maskId('session-2026-05-03')).toBe('session-2026-05-03')
    expect(maskId('ses_5a3bc9f1effeXkq1N8eyPJ0fZk')).toBe('ses_5a3bc9f1effeXkq1N8eyPJ0fZk')
    expect(maskId(one)).toBe(maskId(one))
    expect(maskId(one)).not.toBe(maskId(other))
    expect(maskId(one)).not.toContain('AAAA')
  })
})

describe('a password in another language', () => {
  it.each([
    ['das Passwort für den Router ist Kirschbaum#Lampe88', 'Kirschbaum#Lampe88'],
    ['La contraseña del wifi es gato_azul77, no la compartas', 'gato_azul77'],
    ['mon mot de passe : Tr0ub4dor', 'Tr0ub4dor'],
    ['пароль от роутера: Zima-2024', 'Zima-2024'],
    ['ルーターのパスワードは fuji-San2024 です', 'fuji-San2024'],
    ['会計ソフトのパスワードは「Sakura!Mochi2091」です。ログインできない理由を教えてください。', 'Sakura!Mochi2091'],
    ['我的密码是 long_yun88', 'long_yun88'],
    ['サーバーのパスワードはsakura1680Yamaです。', 'sakura1680Yama'],
    ['MOT_DE_PASSE=Girafe198-Bleue', 'Girafe198-Bleue'],
    ['{"motDePasse":"Girafe198-Bleue"}', 'Girafe198-Bleue'],
    ['CONTRASENA=Luna2690Verde', 'Luna2690Verde'],
  ])('is masked in %s', (text, secret) => {
    expect(maskSecrets(text)).not.toContain(secret)
  })

  it.each(['Das Passwort ist falsch.', 'le mot de passe est oublié', 'La contraseña es obligatoria'])(
    'is not found in %s',
    (text) => expect(maskSecrets(text)).toBe(text),
  )
})

describe('a secret of another kind', () => {
  it.each([
    ['The PUK of the SIM card is 84920174.', '84920174'],
    ['The online banking access code is 83674543.', '83674543'],
    ['The PIN of the freezer room went from 4471 to 902638 this morning.', '902638'],
    ["le mdp du wifi de l'atelier c'est sel-marin-2291, tu peux ?", 'sel-marin-2291'],
    ['Der WLAN-Schlüssel für die Gäste lautet eichenhof-27, danke.', 'eichenhof-27'],
    ['admin:\n  password: >-\n    mango-lamp-88\n  port: 5432', 'mango-lamp-88'],
    ['api_token: |\n  mango-lamp-88-x\nport: 1', 'mango-lamp-88-x'],
    ['The parcel webhook secret is mango-lamp-93.', 'mango-lamp-93'],
    ['Backup codes of the mailbox: 4821-9930, 7714-0052, 3386-1147', '7714-0052'],
  ])('is masked in %j', (text, secret) => {
    expect(maskSecrets(text)).not.toContain(secret)
  })

  it.each([
    'The secret is out.',
    'The secret of the sauce is patience.',
    'description: >-\n  serves the password page\nport: 1',
    'le mdp du wifi est au dos de la box',
    'Recovery codes: kept in the vault, see shelf B',
  ])('is not found in %j', (text) => expect(maskSecrets(text)).toBe(text))
})

describe('a short password', () => {
  it.each([
    '{"host": "db2", "password": "mango-lamp-77"}',
    "{'db_password': 'mango-lamp-77'}",
    '<server><password>mango-lamp-77</password></server>',
    'mango-lamp-77 is the wifi password up at the cabin.',
    'I changed the password of the router this morning. It is now mango-lamp-77.',
    "The router has a new password. It's mango-lamp-77, please tell Ana.",
    "sshpass -p 'mango-lamp-77' ssh kara@router uptime",
    'sshpass -v -pmango-lamp-77 ssh kara@router',
    '| device | password |\n|---|---|\n| router | mango-lamp-77 |',
    'device;Password;room\nrouter;mango-lamp-77;hall',
  ])('is masked in %s', (text) => {
    expect(maskSecrets(text)).not.toContain('mango')
    expect(maskSecrets(text)).toMatch(/router|db|server|cabin/u)
  })

  it.each([
    '{"password": "required"}',
    'This is the password prompt.',
    'I lost the password. It is in the vault of floor 2b.',
    'The bypass -p 8080:80 is open.',
    'pm2 is the program that asks for a password',
    '| device | password policy |\n|---|---|\n| router | 12 letters |',
    'Settings > password > change',
  ])('is not found in %s', (text) => expect(maskSecrets(text)).toBe(text))
})

describe('a password after its name, with other words between them', () => {
  it.each([
    'Is the password of the router still birke77korb or did somebody change it?',
    'Which password did she set for the printer, was it lampe93tor?',
    'mysql -h db.example -u ana -pbirke77korb shop',
    '<input type="password" name="pw" value="birkenkorb">',
    '<input value="birkenkorb" id=userPassword>',
    'machine ftp.example login ana password birkekorb account shop',
    'default login ana\n  password birkekorb',
  ])('is masked: %s', (text) => {
    expect(maskSecrets(text)).not.toMatch(/birke|lampe/u)
  })

  it.each([
    'Is the password hashed with sha256sum or bcrypt?',
    'docker run -p8080:80 -parallel web',
    '<input type="text" name="user" value="ana77korb">',
    'The password policy asks for 14 characters.',
    'Did the password reset of 2026-05-03 at 10:30pm work?',
  ])('is not found in: %s', (text) => {
    expect(findSecrets(text)).toEqual([])
  })
})

describe('a name and a password in a command option', () => {
  it.each(['curl -u deploy:t9Kq2Wm7Zr https://x.example', "curl --user 'ci:p4ss-Wr0d' https://x.example"])(
    'is masked in %s',
    (text) => expect(maskSecrets(text)).not.toMatch(/t9Kq2Wm7Zr|p4ss-Wr0d/u),
  )

  it.each([
    'docker run -u 1000:1000 app',
    'chown -R -u www:www /srv',
    'rsync -u host:/var/log/app1 .',
    'git push -u origin:v2',
  ])('is not found in %s', (text) => expect(maskSecrets(text)).toBe(text))
})

describe('a word of random characters', () => {
  it.each([
    ['WIFI:S:Guest;T:WPA;P:', 'brN7vq2LkZ', ';;'],
    ['db.example:5432:orders:reporter:', 'hT5wPq9sVd2x', ''],
    ['curl -H "X-Parcel-Auth: ', '9f2Kd81mVqLx07ZtRb3nYw6sHc5uGe4P', '" https://api.example/labels'],
    ['it prints ', 'acme_live-3f9d2c7e81ab44d0b6c5e9f7a1d2038e', ' and stops'],
    ["le mot c'est ", 'Vk7#moulin!88', ', tu peux tester ?'],
    ['otpauth://totp/Shop?secret=', 'KZXW6YTBOI4TCMRTGQ2TMNZY', ''],
  ])('is a secret, whatever its name: %s%s%s', (before, secret, after) =>
    expect(maskSecrets(before + secret + after)).toBe(before + '█'.repeat(secret.length) + after),
  )
})

describe('a word that looks like a password', () => {
  it('is masked in the paragraph of another credential, whatever its name', () => {
    const text = '密码：Lc#7742mango!Q\n备用口令是 bU9-xx21-Tao\n\nBuild Heron42-Blue tomorrow.'

    expect(maskSecrets(text)).toBe(
      `密码：${'█'.repeat(14)}\n备用口令是 ${'█'.repeat(12)}\n\nBuild Heron42-Blue tomorrow.`,
    )
  })

  it('is not masked without a credential next to it', () => {
    expect(maskSecrets('备用口令是 bU9-xx21-Tao')).toBe('备用口令是 bU9-xx21-Tao')
  })
})

it.each([
  'La página para cambiar la contraseña de Garza es /cuenta/garza-cambio.',
  'The page for the password of Heron is /account/heron-reset.',
])('does not mask a path: %s', (text) => {
  expect(maskSecrets(text)).toBe(text)
})

it('reads the name and the content of a statement together', async () => {
  expect(await findSecretIn({ name: 'PIN', content: '4821' })).toBe(describeSecret('PIN: 4821'))
  expect(describeSecret('PIN: 4821')).not.toBeNull()
  expect(await findSecretIn({ name: 'page', content: '4821' })).toBeNull()
  expect(await findSecretIn({ content: '4821' })).toBeNull()
})

describe('the search for secrets in a long text', () => {
  // Each text makes a different part of the search slow.
  const repeated = [
    'pin ',
    'pw: aB1!xyzXy7 ',
    'aB1!aB1! ',
    'AB12 A1 B2 C3 D4 E5 F6 ',
    'https://a.b/c?token=a8Kz93mQ1x7 ',
  ]

  it.each(repeated)('stops for other work after each name and match: %j', (part) => {
    const stops = (times: number): number => [...searchWrittenSecrets(part.repeat(times))].length

    expect(stops(2_000) - stops(1_000)).toBeGreaterThan(300)
  })

  it.each(repeated)('masks the same in slices: %j', async (part) => {
    const text = `token: ａB1c2D3e4F5g6H7i8 ${part.repeat(500)}`

    expect(await maskSecretsInSlices(text)).toBe(maskSecrets(text))
  })
})

describe('a secret in an unusual form', () => {
  it.each([
    // Digits spelled out as words.
    ['the PIN for the strongroom is nine two seven seven one four write that down', 'nine two seven seven one four'],
    ['my alarm code: zero-four-double two', 'zero-four-double two'],
    ['die PIN vom Tresor lautet neun zwei sieben sieben', 'neun zwei sieben sieben'],
    // The setting of a lock.
    ['GARAGE_KEYPAD_CODE=70331', '70331'],
    ['DOOR_CODE="#4417*"', '#4417*'],
    ['BIKE_LOCK_COMBINATION=83152', '83152'],
    ['{"check_in": {"lockbox_code": "2749"}}', '2749'],
    ['{"doors": [{"access_code": 448120}]}', '448120'],
    ['{"registrationLockPin": "7719403"}', '7719403'],
    ['{"account_name": "ana", "revocation_code": "R58214"}', 'R58214'],
    // A pre-shared key.
    ['WIFI_PSK="Pflaume-Regal-83"', 'Pflaume-Regal-83'],
    ['{"server": "vpn.example", "psk": "Dijk&Polder!1953"}', 'Dijk&Polder!1953'],
    // A name before "password", and words joined by hyphens.
    ['{"ansible_vault_password": "nachtvlinder-op-zolder"}', 'nachtvlinder-op-zolder'],
    // Lists of codes, and a code after "is left:".
    ['{"backup_codes": ["4821 7730"]}', '4821 7730'],
    ['{"recovery_codes": ["a3f91-7c02e"]}', 'a3f91-7c02e'],
    ['one recovery code for GitHub is left: a3f91-7c02e', 'a3f91-7c02e'],
    // A lock that opens with a number, and a PIN in the next clause.
    ['the key box next to the door opens with 2749.', '2749'],
    ['My phone unlocks with 918264 if you have to call.', '918264'],
    ['Signal wants my PIN again, that was 7719403.', '7719403'],
    // A name and a password before a host, and the option -P.
    ['sqlplus scott/sl4ktand@//ora7.pell.example:1521/XEPDB1', 'sl4ktand'],
    ['ipmitool -I lanplus -U root -P calvin88rack chassis status', 'calvin88rack'],
    // An SQL statement.
    ["CREATE USER ana IDENTIFIED BY 'Larch4417moor';", 'Larch4417moor'],
    ["ALTER USER ana IDENTIFIED WITH caching_sha2_password BY 'quiet larch';", 'quiet larch'],
    // Digits of other scripts, and characters with spaces between them.
    ['My credit card number is ٤١١١ ١١١١ ١١١١ ١١١١, is it valid?', '٤١١١ ١١١١ ١١١١ ١١١١'],
    ['the PIN of the safe is ४४१७२९', '४४१७२९'],
    ['my card is ④①①① ①①①① ①①①① ①①①①', '④①①① ①①①① ①①①① ①①①①'],
    ['The password of the portal is L a r c h 4 4 1 7 m o o r.', 'L a r c h 4 4 1 7 m o o r'],
  ])('is found: %s', (text, secret) => {
    expect(findSecrets(text).map(({ start, end }) => text.slice(start, end))).toEqual([secret])
  })

  it.each([
    'for the strongroom we need nine two metre boards seven hinges and fourteen screws',
    'the PIN has four digits, one two or three of them odd',
    'STATUS_CODE=404',
    'DOOR_CODE=$DOOR_CODE',
    '{"access_code": "none"}',
    'The museum opens with 2000 lanterns.',
    'That pin we found on the map was 1200 metres away.',
    'uses: docker/build-push-action@v5',
    'The passphrase is written on the card in the blue drawer, ask Milena.',
    'The parcel with the number ٣٤٠٠ ١٢ arrives on Monday.',
    'The password of the quiz begins with A B C D E F G.',
    "CREATE USER ana IDENTIFIED BY '<password>';",
    'CREATE USER ana IDENTIFIED EXTERNALLY DEFAULT TABLESPACE users QUOTA 20M ON users;',
    'The public key of my server begins with ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPq8.',
  ])('is not found in: %s', (text) => {
    expect(findSecrets(text)).toEqual([])
  })
})

it('finds no secret in a long word with many punctuation marks, and terminates', () => {
  expect(findSecrets('a1!'.repeat(20_000))).toEqual([])
})

describe('the value of a setting whose name gives no hint', () => {
  it.each([
    'BOATHOUSE=7hB!x2Lq',
    'export ROUTER_ADMIN="Qx7-Lemur-22"',
    '{"name":"site","portal":"Tr0ub4dor&3","port":80}',
    "{'lakehouse': 'M1ndTheG@p'}",
  ])('is masked if it looks like a password: %s', (text) => {
    expect(maskSecrets(text)).not.toMatch(/7hB|Lemur|ub4dor|ndTheG/u)
  })

  it.each([
    'NODE_VERSION=v24.21.0-x64',
    'INSTANCE_TYPE=m5.2xlarge',
    'LICENSE=GPL-3.0-only',
    'BUCKET_NAME=acme-prod-eu-west-1-logs-7f3a2b',
    'RUST_TARGET=x86_64-unknown-linux-gnu',
    'MODEL_NAME=claude-3-5-sonnet-20241022',
    '{"host":"ip-10-0-3-17","cpu":"AMD64Family25Model33"}',
    '{"part": "STM32F103C8T6", "vin": "WVWZZZ1JZXW000001"}',
    '{"filename": "IMG_20260301_101500.jpg", "font": "Inter-SemiBold600"}',
    '{"conversation":"c_01HZX9V5K8M2N3P4Q5R6S7T8V9"}',
    '{"request_id": "2dbcc344-d895-4ed5-bc26-5e8971b9b12c"}',
  ])('is not masked otherwise: %s', (text) => {
    expect(maskSecrets(text)).toBe(text)
  })
})

describe('the purpose of a password', () => {
  it.each([
    'You can RDP as kiosk with 5Gq.Zt7-pM now.',
    'The nurse tablet opens with q1w2e3r4t5.',
    'The family account uses Fl0wer.Power.77 as password.',
    'keepass master key: Krypt0n1te_88',
  ])('identifies it: %s', (text) => {
    expect(maskSecrets(text)).not.toMatch(/5Gq|q1w2|Fl0wer|Krypt/u)
  })

  it.each(['Open the app with node20.', 'connect to web01-prod with TLSv1.3', 'She unlocks the bike with 2 hands.'])(
    'is not found in %s',
    (text) => expect(maskSecrets(text)).toBe(text),
  )
})

describe('text of a log, a type or an example', () => {
  it.each([
    '2026-11-01T08:10:09.054Z INFO orders-api req=2bd446db8ffaadb6 status=200 dur=31ms',
    '2026-11-01T08:10:09.054Z DEBUG auth token refreshed for user 4412 in 12ms span=6a550d8cc077b6de',
    'password: string;',
    'DATABASE_URL=postgres://user:password@localhost:5432/app',
  ])('is not a secret: %s', (text) => {
    expect(maskSecrets(text)).toBe(text)
  })

  it.each([
    'It works with the cookie sessionid=6a550d8cc077b6de9f0e1c2d; Path=/.',
    'DATABASE_URL=postgres://user:mango@localhost:5432/app',
    'PAPERLESS_API=6a550d8cc077b6de9f0e1c2d',
  ])('is different from a secret in similar text: %s', (text) => {
    expect(maskSecrets(text)).not.toMatch(/6a55|mango/u)
  })
})

import {
  alphanumeric,
  base64,
  digits,
  hex,
  json64,
  type Kind,
  lower,
  type Random,
  upper,
  urlSafe,
  uuid,
} from './random-credentials.ts'

/** A kind with sentences that mention it; `{}` is replaced by the credential. */
export type SpokenKind = Kind & { readonly sentences: readonly [string, string] }

const words = 'harbor lemon window pepper tunnel violet saddle copper meadow rocket blanket walnut'.split(' ')
const word = (r: Random): string => words[Number.parseInt(r(4, hex), 16) % words.length] as string
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
const groups = (r: Random, count: number, length: number, alphabet: string, mark = '-'): string =>
  Array.from({ length: count }, () => r(length, alphabet)).join(mark)

/**
 * Services and devices that the other sets do not contain; half of the kinds have no recognisable format. The author of
 * this set had not read the rules.
 */
export const fifthKinds: readonly SpokenKind[] = [
  {
    label: 'Codecov upload token',
    env: 'CODECOV_TOKEN',
    make: uuid,
    sentences: [
      'coverage upload fails in CI bc codecov wants its token again, its {} just put it in the yml',
      'For Codecov we use the upload token {} on all branches.',
    ],
  },
  {
    label: 'Sentry organisation token',
    env: 'SENTRY_AUTH_TOKEN',
    make: (r) => `sntrys_${json64({ iat: Number(r(9, digits)), org: r(6, lower) })}_${r(43, base64)}`,
    sentences: ['sourcemaps: {} should work for the release step', 'Sentry gave me this, can you wire it up? {}'],
  },
  {
    label: 'Nomad management token',
    env: 'NOMAD_TOKEN',
    make: uuid,
    sentences: [
      'I bootstrapped the cluster; management token is {}, keep it for the jobs.',
      'export the Nomad ACL token ({}) before you run the plan',
    ],
  },
  {
    label: 'Tuya local key',
    env: 'TUYA_LOCAL_KEY',
    make: (r) => r(16, `${alphanumeric}!#&*<`),
    sentences: [
      'The heat pump answers on 192.168.1.44 with local key {} and protocol 3.3.',
      'ok got it out of the Tuya app finally: local_key {} for the plug in the kitchen',
    ],
  },
  {
    label: 'Hue application key',
    env: 'HUE_APPLICATION_KEY',
    make: (r) => r(40, urlSafe),
    sentences: [
      'I pressed the button on the bridge and it answered with username {}, that is what the script needs.',
      'Use {} against the Hue bridge in the hall, the lights there should dim at ten.',
    ],
  },
  {
    label: 'Zigbee install code',
    env: 'ZIGBEE_INSTALL_CODE',
    make: (r) => groups(r, 9, 4, upper.slice(0, 6) + digits),
    sentences: [
      'To join the smoke detector type the install code {}.',
      'Sticker on the thermostat: install code {}, and it is the second one from the left.',
    ],
  },
  {
    label: 'Thread network key',
    env: 'OPENTHREAD_NETWORK_KEY',
    make: (r) => r(32, hex),
    sentences: [
      'our thread dataset has network key {} on channel 15',
      'The border router was reset. Its network key must be {} again, otherwise the blinds do not come back.',
    ],
  },
  {
    label: 'Z-Wave DSK',
    env: 'ZWAVE_S2_DSK',
    make: (r) => groups(r, 8, 5, digits),
    sentences: ['The DSK on the lock is {}.', 'pairing the Z-Wave strip asks for the DSK, I read {} off the box'],
  },
  {
    label: 'LoRaWAN app key',
    env: 'LORAWAN_APPKEY',
    make: (r) => r(32, upper.slice(0, 6) + digits),
    sentences: [
      'Register the soil sensor with AppKey {} please, the DevEUI is on the case.',
      'TTN wants an AppKey. I generated {} for the beehive scale.',
    ],
  },
  {
    label: 'HomeKit setup code',
    env: 'HOMEKIT_SETUP_CODE',
    make: (r) => `${r(3, digits)}-${r(2, digits)}-${r(3, digits)}`,
    sentences: [
      'setup code for the Eve plug is {}',
      'My daughter cannot add the camera, she needs the HomeKit code {}.',
    ],
  },
  {
    label: 'SIM unlock number',
    env: 'SIM_PUK',
    make: (r) => r(8, digits),
    sentences: ['I locked my SIM again, luckily the PUK is still in the drawer: {}', 'PUK of the spare phone: {}'],
  },
  {
    label: 'car radio code',
    env: 'CAR_RADIO_CODE',
    make: (r) => r(4, digits),
    sentences: [
      'After the battery is changed the radio in the Polo asks for a code, that one is {}.',
      'radio code for the old Clio {}',
    ],
  },
  {
    label: 'phone passcode',
    env: 'IPAD_PASSCODE',
    make: (r) => r(6, digits),
    sentences: [
      "The kids' iPad unlocks with {}, tell the babysitter.",
      'You can look at my phone if I am late, passcode {}.',
    ],
  },
  {
    label: 'Vercel blob token',
    env: 'BLOB_READ_WRITE_TOKEN',
    make: (r) => `vercel_blob_rw_${r(16)}_${r(30)}`,
    sentences: ['uploads go to blob storage with {} in preview too', 'Please put {} into the preview environment.'],
  },
  {
    label: 'Netlify build hook',
    env: 'NETLIFY_BUILD_HOOK',
    make: (r) => `https://api.netlify.com/build_hooks/${r(24, hex)}`,
    part: /[0-9a-f]{24}$/u,
    sentences: ['Call {} when the recipe sheet changes.', 'the cron job posts to {} every night'],
  },
  {
    label: 'private calendar address',
    env: 'CALENDAR_ICS_URL',
    make: (r) =>
      `https://calendar.google.com/calendar/ical/ana.${r(5, lower)}%40gmail.com/private-${r(32, hex)}/basic.ics`,
    part: /[0-9a-f]{32}/u,
    sentences: ['Our family calendar can be read from {} if you want to check Thursday.', 'subscribe the panel to {}'],
  },
  {
    label: 'camera address',
    env: 'DRIVEWAY_CAMERA',
    make: (r) => `rtsp://viewer:${capital(word(r))}${r(3, digits)}@192.168.20.7:554/stream1`,
    part: /(?<=viewer:)[^@]+/u,
    sentences: ['Frigate shows nothing for {} since Sunday.', 'you can watch the driveway on {}'],
  },
  {
    label: 'signed bucket address',
    env: 'REPORT_DOWNLOAD_URL',
    make: (r) =>
      `https://reports.s3.eu-west-1.amazonaws.com/q3.pdf?X-Amz-Date=20260301T101500Z&X-Amz-Expires=604800&X-Amz-Signature=${r(64, hex)}`,
    part: /[0-9a-f]{64}$/u,
    sentences: ['Finance can fetch the report for a week: {}', 'I get a 403 on {} from the office network'],
  },
  {
    label: 'Supabase secret key',
    env: 'SUPABASE_SECRET_KEY',
    make: (r) => `sb_secret_${r(22, urlSafe)}_${r(8, urlSafe)}`,
    sentences: ['swap the old service role for {} in the edge function', 'new style key: {}'],
  },
  {
    label: 'Mullvad account number',
    env: 'MULLVAD_ACCOUNT',
    make: (r) => r(16, digits),
    sentences: [
      'Log the travel router in to Mullvad with account {}.',
      'my mullvad login is just the number {} nothing else',
    ],
  },
  {
    label: 'Nextcloud app password',
    env: 'NEXTCLOUD_APP_PASSWORD',
    make: (r) => groups(r, 5, 5, alphanumeric),
    sentences: [
      'for the calendar sync i made an app password in nextcloud {} user is marta',
      'DAVx5 is set up with {} and works now.',
    ],
  },
  {
    label: 'Proxmox API token',
    env: 'PROXMOX_API_TOKEN',
    make: (r) => `root@pam!terraform=${uuid(r)}`,
    part: /[^=]+$/u,
    sentences: ['the provider block takes {} as is', 'Authorization: PVEAPIToken={}'],
  },
  {
    label: 'UniFi API key',
    env: 'UNIFI_API_KEY',
    make: (r) => r(32, urlSafe),
    sentences: [
      'curl -k -H "X-API-KEY: {}" https://192.168.1.1/proxy/network/integration/v1/sites',
      'I let UniFi create {} for the dashboard.',
    ],
  },
  {
    label: 'OctoPrint API key',
    env: 'OCTOPRINT_APIKEY',
    make: (r) => r(32, upper.slice(0, 6) + digits),
    sentences: ['Cura connects to the printer with API key {}.', 'octoprint apikey {} if you want to watch the print'],
  },
  {
    label: 'Paperless token',
    env: 'PAPERLESS_API',
    make: (r) => r(40, hex),
    sentences: [
      'the scanner posts to paperless with Authorization: Token {}',
      'I created a token in Paperless for you ({}), please fetch the invoices of May.',
    ],
  },
  {
    label: 'Jellyfin key',
    env: 'JELLYFIN_KEY',
    make: (r) => r(32, hex),
    sentences: ['http://nas.local:8096/Sessions?api_key={} lists who is watching', 'Jellyfin key for Homepage: {}'],
  },
  {
    label: 'Zulip bot key',
    env: 'ZULIP_KEY',
    make: (r) => r(32),
    sentences: ['zuliprc: email=bot@chat.example.org key={}', 'the bot logs in as deploy-bot with the key {}'],
  },
  {
    label: 'Rocket.Chat token',
    env: 'ROCKETCHAT_AUTH',
    make: (r) => r(43, urlSafe),
    sentences: [
      'send X-Auth-Token: {} and X-User-Id: aobEdbYhXfu5hkeqG',
      'Rocket.Chat: personal access token {} (never expires)',
    ],
  },
  {
    label: 'database password on a command line',
    env: 'MYSQL_PWD',
    make: (r) => `${capital(word(r))}${r(4, digits)}!`,
    sentences: ['I always run mysql -u root -p{} shop < dump.sql', 'then do `mysqldump -uadmin -p{} --all-databases`'],
  },
  {
    label: 'directory bind password',
    env: 'LDAP_BIND_PW',
    make: (r) => `${word(r)}${r(2, digits)}${capital(word(r))}`,
    sentences: [
      'ldapsearch -x -D cn=reader,dc=example,dc=org -w {} -b dc=example,dc=org finds her',
      'bind as cn=reader with {} and list the groups',
    ],
  },
  {
    label: 'sudo password',
    env: 'ANSIBLE_BECOME_PASS',
    make: (r) => `${r(3, lower)}${capital(word(r))}_${r(2, digits)}`,
    sentences: ['echo {} | sudo -S systemctl restart nginx', 'if it asks for my sudo password type {} and go on'],
  },
  {
    label: 'NAS password',
    env: 'NAS_PASS',
    make: (r) => `${capital(word(r))}!${capital(word(r))}${r(2, digits)}`,
    sentences: [
      'You get into the Synology as guest with {}.',
      'smb://nas/fotos, user opa, pw {}, he always forgets it',
    ],
  },
  {
    label: 'guest wifi password',
    env: 'GUEST_WIFI_PSK',
    make: (r) => `${word(r)}-${word(r)}-${r(3, digits)}`,
    sentences: [
      'Guests: network CasaVerde, password {}.',
      'the wlan in the holiday flat is Seeblick and you log in with {}',
    ],
  },
  {
    label: 'SNMP community',
    env: 'SNMP_COMMUNITY',
    make: (r) => `${word(r)}${r(4, lower + digits)}ro`,
    sentences: ['snmpwalk -v2c -c {} 10.0.0.1 system', 'The switches in the basement answer to community {}.'],
  },
  {
    label: 'locker combination',
    env: 'LOCKER_COMBINATION',
    make: (r) => `${r(2, '123')}-${r(2, '123')}-${r(2, '123')}`,
    sentences: ['My locker at the pool opens with {}, can you get the goggles?', 'combination of the safe: {}'],
  },
  {
    label: 'garage keypad number',
    env: 'GARAGE_KEYPAD',
    make: (r) => r(5, digits),
    sentences: ['The keypad takes {} and then the star.', 'garage: type {} on the keypad, wait for the beep'],
  },
  {
    label: 'transaction number',
    env: 'BANK_TAN',
    make: (r) => r(6, digits),
    sentences: ['the bank texted TAN {} for the transfer', 'Use TAN {} for it, quickly, it expires.'],
  },
  {
    label: 'gift card',
    env: 'GIFT_CARD_CODE',
    make: (r) => groups(r, 4, 4, upper + digits),
    sentences: ['I have not redeemed the gift card {} yet.', 'Gift card for mum, code {}, fifty euros on it'],
  },
  {
    label: 'house-made service key',
    env: 'BOATHOUSE_INTERNAL',
    make: (r) => `bhk_live_${r(28, lower + digits)}`,
    sentences: ['The kiosk talks to our booking server with {}.', 'rotate this after the demo: {}'],
  },
  {
    label: 'house-made signature key',
    env: 'LEDGER_HMAC',
    make: (r) => `${r(43, base64)}=`,
    sentences: [
      'We sign exports with the HMAC key {} since March.',
      'exports are signed (HMAC-SHA256, {}), check them on import',
    ],
  },
]

/** Sentences with codes, numbers and names that are not secret, one per line. */
export const harmlessSentences: readonly string[] = [
  'The order 302-4471982-9912044 arrives on Thursday.',
  'git show 9f3c1de08b4a77d2c6b1a9e5f0d3c2b1a4e5f607 shows who changed it.',
  'My library card number is on the fridge; the book is 978-3-16-148410-0.',
  'request id 7c9e6679-7425-40de-944b-e07fc1f90ae7 took nine seconds',
  'Flight LH1843 leaves at 14:35 from gate K22, the booking is for four.',
  'The tracking number is 1Z999AA10123456784.',
  'sha256 of the image: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  'I moved the token bucket limiter to src/http/rate-limit.ts line 2210.',
  'Please call the plumber on +49 170 5550134 before nine.',
  'The VIN is WVWZZZ1JZXW000001, they need it for the part.',
  'Our VAT id is DE123456789.',
  'version 2.14.0-rc.3+build.20260301 fails on arm64',
  'The password policy asks for twelve characters and no reuse for 24 months.',
  'The key insight of chapter 12 is on page 4471.',
  'I forgot my password again and reset it twice in 2025.',
  'arn:aws:iam::123456789012:role/deploy-production cannot be assumed',
  'docker pull registry.example.org/shop/api@sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945',
  'The MAC of the printer is 3C:5A:B4:11:9F:02.',
  'MainActivityViewModelFactoryProvider2 is too long a name.',
  'Token usage was 48213 input and 1022 output yesterday.',
  'We sleep in room 4471 on floor 4.',
  'commit abc1234 passes, 98fe21c does not',
  'Ticket INC0012345 is about the login page.',
  'The pin on the map is at 52.520008, 13.404954.',
  'The pin header has 40 pins, GPIO17 is the eleventh.',
  'Our postal code is 10115 and the area code is 030.',
  'The exit code was 137, so it ran out of memory.',
  'class="tw-flex-row-2 md:gap-x-4" breaks the layout',
  'He scored 7012 points with the code word bluebird in the game.',
  'Her thesis is https://doi.org/10.1000/182 and the talk https://youtu.be/dQw4w9WgXcQ',
  'conversation c_01HZX9V5K8M2N3P4Q5R6S7T8V9 has 41 turns',
  'etag: W/"5d8c72a5edda8d6a3f0c4b1e2a9f7c60"',
  'The combination of lemon and thyme needs 12-14 minutes.',
  'I paid invoice 2026-000481 on 12.03.2026.',
  'public key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGx9ZrT1Yj3Yc8Xw2Tq0vWm7bUe5N1kRfPz4sLh6QdJa ana@laptop',
  'bucket name: acme-prod-eu-west-1-logs-7f3a2b',
  'Uploaded toolu_01A09q90qw90lq917835lq9 as an attachment.',
  'The recipe needs 1250 g of flour and a 26 cm tin.',
  'Bus 4471 goes to the harbour every 20 minutes.',
  'My employee number is 100482 and my desk is B-1207.',
]

/** A secret, a sentence in which it replaces `{}`, and the names of a setting and a field for it. */
export type ToldSecret = readonly [secret: string, sentence: string, setting: string, field: string]

/**
 * Secrets of people, at home and at work, in their own words: most sentences do not contain "the password is", and most
 * settings do not contain "password".
 */
// biome-ignore-start format: one secret to a line
export const toldSecrets: readonly ToldSecret[] = [
  ['4821', 'to get into the flat, press {} at the panel downstairs', 'ENTRY_CODE', 'entryCode'],
  ['Qx7-Lemur-22', 'the router admin login is admin / {}', 'ROUTER_ADMIN', 'routerAdmin'],
  ['b7f0c2d94e1a4f6f9a83d2c5e7a1b0cc', 'the weather station needs appid {} in every call', 'OWM_APPID', 'appid'],
  ['hunter2hunter', 'my steam pw: {} dont tell anyone', 'STEAM_PW', 'steamPw'],
  ['zJ3kP9wQ', 'The VPN shared secret at the office is {}', 'VPN_SHARED', 'ipsecSharedSecret'],
  [
    'k8Lm2Qr5Tx9W',
    'imap wants an app-specific one, I got {} from the settings page',
    'IMAP_APP_SPECIFIC',
    'imapAppSpecific',
  ],
  ['f3a1-99bc-04de-7715', 'the pairing code for the hearing aids is {}', 'HEARING_PAIRING', 'pairingCode'],
  ['Tr0ub4dor&3', 'log me in to the county portal, mila.k and {}', 'PORTAL_LOGIN', 'portalLogin'],
  ['0f9e8d7c6b5a49382716051423324150', 'HMAC for webhooks from the shop: {}', 'SHOP_WEBHOOK_HMAC', 'hmac'],
  [
    'mule-cactus-orbit-plaid',
    'the disk asks for the passphrase on boot, it is {}',
    'LUKS_PASSPHRASE',
    'luksPassphrase',
  ],
  ['90210344', 'the telephone banking PIN of my mother is {}', 'TELEBANKING_PIN', 'telebankingPin'],
  ['SG-7781-QQRT-0092', 'activation key for the sewing software {}', 'SEWING_ACTIVATION', 'activationKey'],
  [
    'ya7Gd92kSSd02Lq',
    'I set the postgres role reporting to {} yesterday',
    'REPORTING_ROLE_PASSWORD',
    'reportingRolePassword',
  ],
  ['9d2f6c1ab3', 'ssh into the pi with pi/{}', 'PI_LOGIN', 'piLogin'],
  ['dG9rZW46c2VjcmV0dmFsdWUxMjM0', 'send the header Authorization: Basic {}', 'BASIC_HEADER', 'authorization'],
  ['M1ndTheG@p', 'wifi at the lake house: SSID Seehaus / {}', 'LAKEHOUSE_WIFI', 'wifi'],
  ['55-18-07', 'The gun cabinet dial is {} starting clockwise', 'CABINET_DIAL', 'cabinetDial'],
  ['7hB!x2Lq', 'root login on the switch: {}', 'SWITCH_ROOT', 'switchRoot'],
  [
    'c4ca4238-a0b9-2382-0dcc-509a6f75849b',
    'Home Assistant webhook id is {} keep that private',
    'HA_WEBHOOK_ID',
    'haWebhook',
  ],
  [
    's3cr3t-sauce-42',
    'Grafana still has the default, I changed it to {}',
    'GF_SECURITY_ADMIN_PASSWORD',
    'gfAdminPassword',
  ],
  ['yubi-ccccccdefghi-4711', 'otp backup is {}', 'OTP_BACKUP', 'otpBackup'],
  ['Fl0wer.Power.77', 'the shared family apple account uses {} as password', 'APPLE_FAMILY', 'appleFamily'],
  [
    '6f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0',
    'the wallet private key is {}',
    'WALLET_PRIV',
    'walletPriv',
  ],
  ['rk-88123-LQ', 'reset code from the bank {}', 'BANK_RESET', 'resetCode'],
  ['Passw0rt', 'Das Kennwort fürs Intranet ist {}', 'INTRANET_KENNWORT', 'kennwort'],
  ['clave9981', 'la clave del correo es {}', 'CORREO_CLAVE', 'clave'],
  ['7721', 'sim pin {}', 'SIM_PIN', 'simPin'],
  ['3f2a9c', 'ADMIN: pass={}', 'ADMIN_PASS', 'pass'],
  ['n0tAga1n', 'sudo asks, I answer {}', 'SUDO_ANSWER', 'sudo'],
  ['Krypt0n1te_88', 'keepass master: {}', 'KEEPASS_MASTER', 'keepassMaster'],
  ['2c6ee24b09816a6f14f95d1698b24ead', 'the AES key for the backups: {}', 'BACKUP_AES', 'aesKey'],
  ['xkcd936staple', 'sftp user acme, secret {}', 'SFTP_SECRET', 'sftpSecret'],
  ['5Gq.Zt7-pM', 'you can RDP as kiosk with {}', 'RDP_KIOSK', 'rdpKiosk'],
  ['b2xkLXNlY3JldC1jb29raWUtdmFsdWU5OTg4', 'session cookie for the scraper: sid={}', 'SCRAPER_COOKIE', 'cookie'],
  ['1a79a4d60de6718e8e5b326e338ae533', 'Unifi protect rtsp stream key {}', 'RTSP_STREAM_KEY', 'streamKey'],
  ['84-22-91-63', 'the alarm disarm number is {}', 'ALARM_DISARM', 'disarmNumber'],
  ['0xdeadbeefcafebabe0123456789abcdef', 'the signing seed = {}', 'SIGNING_SEED', 'signingSeed'],
  ['GHTY-LPQW-9920-XXZA', 'BitLocker asks for it: {}', 'BITLOCKER', 'bitlocker'],
  ['p4ssion.Fruit', 'unlock my 1password with {}', 'ONEPASSWORD', 'onepassword'],
  ['kiwi77kiwi', 'her instagram is @mia_k and the password kiwi is... no wait it is {}', 'INSTA_PASS', 'instaPass'],
  ['9aK3-x7Pq-22Lm', 'guest voucher for the hotel wifi {}', 'HOTEL_VOUCHER', 'voucher'],
  ['ABCD1234EFGH5678', 'license {} for the CAD program', 'CAD_LICENSE', 'license'],
  ['M3rcury', 'the DB user is app and it authenticates with {}', 'DB_AUTH', 'dbAuth'],
  ['rootroot99', 'mysql root has {} on the test box', 'MYSQL_ROOT', 'mysqlRoot'],
  ['Zx9$kk21', 'credentials: bob:{}', 'CREDENTIALS', 'credentials'],
  ['q1w2e3r4t5', 'the nurse tablet opens with {}', 'NURSE_TABLET', 'nurseTablet'],
  ['88120094', 'My Sparkasse online PIN is {}', 'SPARKASSE_PIN', 'onlinePin'],
  ['teal-otter-91', 'invite code to the private server {}', 'INVITE_CODE', 'inviteCode'],
]
// biome-ignore-end format: one secret to a line

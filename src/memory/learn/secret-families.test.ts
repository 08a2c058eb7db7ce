import { describe, expect, it } from 'vitest'
import {
  base64,
  digits,
  hex,
  json64,
  type Kind,
  lower,
  missedKinds,
  randomOf,
  type Shape,
  upper,
  urlSafe,
  uuid,
} from '../../../test/secrets/random-credentials.ts'
import { maskSecrets } from './secrets.ts'

/** Credentials of well-known providers. The figures in docs/secrets.md come from this list. */
const families: readonly Kind[] = [
  { label: 'AWS access key id', env: 'AWS_ACCESS_KEY_ID', make: (r) => `AKIA${r(16, `${upper}234567`)}` },
  { label: 'AWS secret access key', env: 'AWS_SECRET_ACCESS_KEY', make: (r) => r(40, base64), isNamed: true },
  {
    label: 'Azure storage connection string',
    env: 'AZURE_STORAGE_CONNECTION_STRING',
    make: (r) => `DefaultEndpointsProtocol=https;AccountName=${r(8, lower)};AccountKey=${r(86, base64)}==`,
  },
  { label: 'Entra client secret', env: 'AZURE_CLIENT_SECRET', make: (r) => `${r(3)}8Q~${r(34, `${urlSafe}.`)}` },
  { label: 'Google API key', env: 'GOOGLE_API_KEY', make: (r) => `AIza${r(35, urlSafe)}` },
  { label: 'Google OAuth client secret', env: 'GOOGLE_CLIENT_SECRET', make: (r) => `GOCSPX-${r(28, urlSafe)}` },
  { label: 'Google OAuth access token', env: 'GOOGLE_OAUTH_ACCESS_TOKEN', make: (r) => `ya29.a0${r(160, urlSafe)}` },
  { label: 'GitHub personal access token', env: 'GITHUB_TOKEN', make: (r) => `ghp_${r(36)}` },
  { label: 'GitHub fine-grained token', env: 'GH_TOKEN', make: (r) => `github_pat_${r(22)}_${r(59)}` },
  { label: 'GitHub installation token', env: 'GITHUB_APP_TOKEN', make: (r) => `ghs_${r(36)}` },
  { label: 'GitLab personal access token', env: 'GITLAB_TOKEN', make: (r) => `glpat-${r(20, urlSafe)}` },
  { label: 'GitLab runner token', env: 'CI_SERVER_TOKEN', make: (r) => `glrt-${r(20, urlSafe)}` },
  {
    label: 'Atlassian API token',
    env: 'ATLASSIAN_API_TOKEN',
    make: (r) => `ATATT3xFfGF0${r(172, urlSafe)}=${r(8, `${digits}ABCDEF`)}`,
  },
  {
    label: 'Slack bot token',
    env: 'SLACK_BOT_TOKEN',
    make: (r) => `xoxb-${r(12, digits)}-${r(13, digits)}-${r(24)}`,
  },
  {
    label: 'Slack app-level token',
    env: 'SLACK_APP_TOKEN',
    make: (r) => `xapp-1-A${r(10, upper + digits)}-${r(13, digits)}-${r(64, hex)}`,
  },
  {
    label: 'Slack incoming webhook',
    env: 'SLACK_WEBHOOK_URL',
    make: (r) => `https://hooks.slack.com/services/T${r(10, upper + digits)}/B${r(10, upper + digits)}/${r(24)}`,
  },
  {
    label: 'Discord bot token',
    env: 'DISCORD_TOKEN',
    make: (r) => `M${r(25)}.${r(6, urlSafe)}.${r(38, urlSafe)}`,
  },
  {
    label: 'Discord webhook',
    env: 'DISCORD_WEBHOOK_URL',
    make: (r) => `https://discord.com/api/webhooks/${r(19, digits)}/${r(68, urlSafe)}`,
  },
  { label: 'Telegram bot token', env: 'TELEGRAM_BOT_TOKEN', make: (r) => `7${r(9, digits)}:AA${r(33, urlSafe)}` },
  { label: 'Stripe secret key', env: 'STRIPE_SECRET_KEY', make: (r) => `sk_live_${r(99)}` },
  { label: 'Stripe restricted key', env: 'STRIPE_API_KEY', make: (r) => `rk_live_${r(99)}` },
  { label: 'Stripe webhook secret', env: 'STRIPE_WEBHOOK_SECRET', make: (r) => `whsec_${r(32)}` },
  { label: 'Square access token', env: 'SQUARE_ACCESS_TOKEN', make: (r) => `EAAA${r(60, urlSafe)}` },
  { label: 'PayPal client secret', env: 'PAYPAL_CLIENT_SECRET', make: (r) => `E${r(79, urlSafe)}`, isNamed: true },
  { label: 'Shopify access token', env: 'SHOPIFY_ACCESS_TOKEN', make: (r) => `shpat_${r(32, hex)}` },
  {
    label: 'OpenAI project key',
    env: 'OPENAI_API_KEY',
    make: (r) => `sk-proj-${r(74, urlSafe)}T3BlbkFJ${r(74, urlSafe)}`,
  },
  { label: 'Anthropic API key', env: 'ANTHROPIC_API_KEY', make: (r) => `sk-ant-api03-${r(93, urlSafe)}AA` },
  { label: 'OpenRouter API key', env: 'OPENROUTER_API_KEY', make: (r) => `sk-or-v1-${r(64, hex)}` },
  { label: 'Hugging Face token', env: 'HF_TOKEN', make: (r) => `hf_${r(34, upper + lower)}` },
  { label: 'Groq API key', env: 'GROQ_API_KEY', make: (r) => `gsk_${r(52)}` },
  { label: 'Replicate token', env: 'REPLICATE_API_TOKEN', make: (r) => `r8_${r(37)}` },
  { label: 'Perplexity API key', env: 'PERPLEXITY_API_KEY', make: (r) => `pplx-${r(48)}` },
  { label: 'xAI API key', env: 'XAI_API_KEY', make: (r) => `xai-${r(80)}` },
  { label: 'SendGrid API key', env: 'SENDGRID_API_KEY', make: (r) => `SG.${r(22, urlSafe)}.${r(43, urlSafe)}` },
  { label: 'Mailgun key', env: 'MAILGUN_API_KEY', make: (r) => `key-${r(32, hex)}` },
  { label: 'Mailchimp API key', env: 'MAILCHIMP_API_KEY', make: (r) => `${r(32, hex)}-us${r(2, '123')}` },
  { label: 'Brevo API key', env: 'BREVO_API_KEY', make: (r) => `xkeysib-${r(64, hex)}-${r(16)}` },
  { label: 'Twilio auth token', env: 'TWILIO_AUTH_TOKEN', make: (r) => r(32, hex), isNamed: true },
  { label: 'Twilio API key', env: 'TWILIO_API_KEY', make: (r) => `SK${r(32, hex)}` },
  { label: 'npm token', env: 'NPM_TOKEN', make: (r) => `npm_${r(36)}` },
  { label: 'PyPI token', env: 'TWINE_PASSWORD', make: (r) => `pypi-AgEIcHlwaS5vcmc${r(150, urlSafe)}` },
  { label: 'RubyGems key', env: 'GEM_HOST_API_KEY', make: (r) => `rubygems_${r(48, hex)}` },
  { label: 'crates.io token', env: 'CARGO_REGISTRY_TOKEN', make: (r) => `cio${r(32)}` },
  { label: 'Docker Hub token', env: 'DOCKERHUB_TOKEN', make: (r) => `dckr_pat_${r(27, urlSafe)}` },
  { label: 'DigitalOcean token', env: 'DIGITALOCEAN_TOKEN', make: (r) => `dop_v1_${r(64, hex)}` },
  { label: 'Heroku API key', env: 'HEROKU_API_KEY', make: (r) => `HRKU-AA${r(58, urlSafe)}` },
  { label: 'Cloudflare API token', env: 'CLOUDFLARE_API_TOKEN', make: (r) => r(40, urlSafe), isNamed: true },
  { label: 'Vercel token', env: 'VERCEL_TOKEN', make: (r) => r(24), isNamed: true },
  { label: 'Netlify token', env: 'NETLIFY_AUTH_TOKEN', make: (r) => `nfp_${r(36)}` },
  { label: 'Supabase access token', env: 'SUPABASE_ACCESS_TOKEN', make: (r) => `sbp_${r(40, hex)}` },
  { label: 'PlanetScale service token', env: 'PLANETSCALE_SERVICE_TOKEN', make: (r) => `pscale_tkn_${r(43, urlSafe)}` },
  { label: 'Databricks token', env: 'DATABRICKS_TOKEN', make: (r) => `dapi${r(32, hex)}` },
  { label: 'Datadog API key', env: 'DD_API_KEY', make: (r) => r(32, hex), isNamed: true },
  { label: 'New Relic user key', env: 'NEW_RELIC_API_KEY', make: (r) => `NRAK-${r(27, upper + digits)}` },
  { label: 'Sentry user token', env: 'SENTRY_AUTH_TOKEN', make: (r) => `sntryu_${r(64, hex)}` },
  { label: 'Grafana service account token', env: 'GRAFANA_TOKEN', make: (r) => `glsa_${r(32)}_${r(8, hex)}` },
  { label: 'Vault service token', env: 'VAULT_TOKEN', make: (r) => `hvs.${r(95, urlSafe)}` },
  { label: 'Terraform Cloud token', env: 'TFE_TOKEN', make: (r) => `${r(14)}.atlasv1.${r(67)}` },
  { label: 'Pulumi access token', env: 'PULUMI_ACCESS_TOKEN', make: (r) => `pul-${r(40, hex)}` },
  { label: 'Doppler token', env: 'DOPPLER_TOKEN', make: (r) => `dp.pt.${r(43)}` },
  { label: 'Tailscale auth key', env: 'TS_AUTHKEY', make: (r) => `tskey-auth-${r(16)}-${r(32)}` },
  { label: 'Linear API key', env: 'LINEAR_API_KEY', make: (r) => `lin_api_${r(40)}` },
  { label: 'Notion integration token', env: 'NOTION_TOKEN', make: (r) => `ntn_${r(11, digits)}${r(35)}` },
  { label: 'Figma access token', env: 'FIGMA_TOKEN', make: (r) => `figd_${r(40, urlSafe)}` },
  { label: 'Airtable access token', env: 'AIRTABLE_API_KEY', make: (r) => `pat${r(14)}.${r(64, hex)}` },
  { label: 'HubSpot private app token', env: 'HUBSPOT_TOKEN', make: (r) => `pat-na1-${uuid(r)}` },
  { label: 'Postman API key', env: 'POSTMAN_API_KEY', make: (r) => `PMAK-${r(24, hex)}-${r(34, hex)}` },
  { label: 'Okta API token', env: 'OKTA_API_TOKEN', make: (r) => `00${r(40, urlSafe)}`, isNamed: true },
  { label: 'CircleCI token', env: 'CIRCLE_TOKEN', make: (r) => `CCIPAT_${r(22)}_${r(40, hex)}` },
  {
    label: '1Password service account token',
    env: 'OP_SERVICE_ACCOUNT_TOKEN',
    make: (r) =>
      `ops_${json64({ email: `${r(12)}@1passwordserviceaccounts.com`, secretKey: `A3-${r(30)}`, srpX: r(64) })}`,
  },
  {
    label: 'age secret key',
    env: 'SOPS_AGE_KEY',
    make: (r) => `AGE-SECRET-KEY-1${r(58, 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L')}`,
  },
  {
    label: 'SSH private key',
    env: 'DEPLOY_KEY',
    make: (r) => {
      const [begin, end] = ['BEGIN', 'END'].map((word) => `-----${word} OPENSSH PRIVATE KEY-----`)
      return [begin, r(70, base64), r(70, base64), `${r(42, base64)}==`, end].join('\n')
    },
  },
  {
    label: 'JSON Web Token',
    env: 'SERVICE_JWT',
    make: (r) => `${json64({ alg: 'HS256', typ: 'JWT' })}.${json64({ sub: r(10, digits), iat: 1 })}.${r(43, urlSafe)}`,
  },
  {
    label: 'PostgreSQL address',
    env: 'DATABASE_URL',
    make: (r) => `postgres://app:${r(20)}@db.example.com:5432/app`,
  },
]

const encoded = (text: string): string => Buffer.from(text).toString('base64')
const keyOf = (label: string): string => label.toLowerCase().replace(/\W+/g, '_')

const inSentence: Shape = ({ label, isNamed }, credential) => ({
  text: isNamed
    ? `The ${label} is ${credential} and it expires in May.`
    : `Please use ${credential} for the deployment tonight and tell me when it is done.`,
  written: credential,
})

const shapes: Readonly<Record<string, Shape>> = {
  sentence: inSentence,
  'env line': ({ env }, credential) => ({
    text: `NODE_ENV=production\n${env}=${credential.includes('\n') ? `"${credential}"` : credential}\nPORT=8080\n`,
    written: credential,
  }),
  JSON: ({ label, isNamed }, credential) => ({
    text: JSON.stringify({ name: 'deployment', [isNamed ? keyOf(label) : 'value']: credential, region: 'eu-west-1' }),
    written: JSON.stringify(credential).slice(1, -1),
  }),
  base64: ({ env, isNamed }, credential) => {
    const written = encoded(isNamed ? `${env}=${credential}\n` : credential)
    return { text: `The dump ends with ${written} and a line break.`, written }
  },
}

const invisible = ['\u200b', '\u200c', '\u200d', '\u2060', '\ufeff', '\u00ad']

/** Invisible characters inside the credential, as some editors and web pages insert them. */
const interspersed: Shape = (family, credential) => {
  const { text } = inSentence(family, credential, 0)
  const written = credential.replace(
    /.{4}(?=.)/gs,
    (four) => `${four}${invisible[credential.length % invisible.length]}`,
  )
  return { text: text.replace(credential, () => written), written }
}

describe(`credentials of ${families.length} families`, () => {
  it.each([...Object.entries(shapes), ['sentence with invisible characters', interspersed] as const])(
    'are masked as a %s',
    (_, shape) => {
      expect(missedKinds(families, shape)).toEqual([])
    },
  )

  it('leave the rest of the text readable, and its length unchanged', () => {
    const [first] = families as [Kind]
    const { text, written } = inSentence(first, first.make(randomOf(1)), 0)

    expect(maskSecrets(text)).toBe(text.replace(written, '\u2588'.repeat(written.length)))
  })
})

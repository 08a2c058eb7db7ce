import { secretlintRules } from './secretlint-rules.ts'

/**
 * Publicly known formats of credentials, where the rules of secretlint have none or a narrower one. What
 * repeats has an upper limit or nothing after it, so that a search takes time in proportion to the text.
 */
// biome-ignore-start format: one provider to a line
const publicFormats = (): readonly RegExp[] => [
  // Clouds and hosting
  /(?:ABIA|ACCA)[A-Z2-7]{16}/u,
  /ABSK[A-Za-z0-9+/]{100,}={0,2}/u,
  /LTAI[A-Za-z0-9]{16,30}/u,
  /(?:DefaultEndpointsProtocol=https?;)?(?:AccountName=[a-z0-9]{3,24};)?(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{40,}={0,2}/u,
  /[\w~.-]{3}\dQ~[\w~.-]{31,40}/u,
  /AIza[\w-]{35,}/u,
  /AQ\.Ab[\w-]{40,}/u,
  /GOCSPX-[\w-]{24,}/u,
  /ya29\.[\w-]{30,}/u,
  /1\/\/0[\w-]{40,}/u,
  /do[oprs]_v1_[0-9a-f]{64}/u,
  /HRKU-[\w-]{30,}/u,
  /fm[12]_[\w+/=-]{60,}|fo1_[\w-]{40,}/u,
  /nf[a-z]_[A-Za-z0-9]{36,}/u,
  /rnd_[A-Za-z0-9]{28,}/u,
  /v1\.0-[0-9a-f]{24}-[0-9a-f]{140,}/u,
  /tk-us-[\w-]{48}/u,
  // Code, packages, builds
  /gh[oprsu]_[A-Za-z0-9]{30,}|github_pat_\w{40,}/u,
  /gl(?:agent|cbt|dt|ffct|ft|imt|oas|pat|ptt|rt|rtr|soat)-[\w-]{20,}/u,
  /AT(?:ATT|CTT)3[\w-]{80,400}=?[0-9A-F]{0,8}|ATBB[A-Za-z0-9]{32}/u,
  /npm_[A-Za-z0-9]{30,}/u,
  /pypi-AgE[\w-]{50,}/u,
  /rubygems_[0-9a-f]{48}/u,
  /cio[A-Za-z0-9]{32}/u,
  /oy2[a-z0-9]{43}/u,
  /CLOJARS_[0-9a-f]{60}/u,
  /dckr_(?:pat|oat)_[\w-]{20,}/u,
  /AKCp[A-Za-z0-9]{69}/u,
  /CCI(?:PAT|PRJ)_[A-Za-z0-9]{22}_[0-9a-f]{40}/u,
  /bk[ur]a_[0-9a-f]{40}/u,
  /sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}/u,
  /sq[apu]_[0-9a-f]{40}/u,
  /pul-[0-9a-f]{40}/u,
  /[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}/u,
  /dp\.(?:audit|ct|pt|scim|sa|st)\.[\w.-]{40,}/u,
  /PMAK-[0-9a-f]{24}-[0-9a-f]{34}/u,
  /hv[bsr]\.[\w-]{24,}/u,
  /ops_eyJ[\w+/=-]{100,}/u,
  /A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}/u,
  /AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}/u,
  /(?<!-)eyJ[\w-]{8,600}\.eyJ[\w-]{8,}(?:\.[\w-]{8,})?/u,
  // Models
  /sk-(?:(?=[A-Za-z_-]{0,40}\d)[\w-]{12,}|[A-Za-z]{16,})/u,
  /(?:gsk|r8|tgp_v1|fw|e2b|jina|pcsk|phx|KGAT)_(?=[A-Za-z_-]{0,40}\d)[\w-]{24,}/u,
  /(?:pplx|xai|nvapi|tvly|csk)-(?=[A-Za-z_-]{0,40}\d)[\w-]{20,}/u,
  /lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}/u,
  /fc-[0-9a-f]{32}/u,
  /hf_[A-Za-z]{34,}|api_org_[A-Za-z]{34}/u,
  // Messages and mail
  /xox[a-z](?:\.xox[a-z])?-[\w-]{16,}|xapp-\d-[A-Z0-9]{8,20}-\d{8,20}-[0-9a-f]{32,}|xwfp-[\w-]{16,}/u,
  /https:\/\/hooks\.slack\.com\/(?:services|workflows|triggers)\/[\w/-]{20,}/u,
  /[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}/u,
  /https:\/\/(?:canary\.|ptb\.)?discord(?:app)?\.com\/api\/webhooks\/\d{10,25}\/[\w-]{40,}/u,
  /https:\/\/[\w-]{1,80}\.webhook\.office\.com\/webhookb2\/[\w@/-]{40,}/u,
  /\d{8,10}:AA[\w-]{32,}/u,
  /SG\.[\w-]{16,64}\.[\w-]{16,}/u,
  /key-[0-9a-f]{32}/u,
  /[0-9a-f]{32}-us\d{1,2}/u,
  /xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}|xsmtpsib-[0-9a-f]{64}-[A-Za-z0-9]{16}/u,
  /re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}/u,
  /SK[0-9a-f]{32}/u,
  // Payment and shops
  /(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}/u,
  /whsec_[A-Za-z0-9+/]{24,}={0,2}/u,
  /EAAA[\w-]{56,}|sq0[a-z]{3}-[\w-]{22,}/u,
  /EAA[A-Za-z0-9]{80,}/u,
  /access_token\$production\$[0-9a-z]{16}\$[0-9a-f]{32}/u,
  /access-(?:sandbox|development|production)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/u,
  /FLWSECK(?:_TEST)?-[\w-]{32,}/u,
  /EZ[AT]K[A-Za-z0-9]{54}/u,
  /(?:shippo|duffel)_(?:live|test)_[\w-]{40,}/u,
  // Data, observability, other tools
  /sbp_(?:v\d_)?[0-9a-f]{40}|sb_secret_[\w-]{20,}/u,
  /pscale_(?:oauth|pw|tkn)_[\w.-]{32,}/u,
  /napi_[a-z0-9]{60,}/u,
  /NR(?:AK|II|JS|RA)-[A-Za-z0-9_-]{20,}/u,
  /sntry[su]_[\w+/=-]{40,}/u,
  /gl(?:c|sa)_[\w+/=-]{32,}/u,
  /dt0[a-z]\d{2}\.[A-Z2-7]{24}\.[A-Z2-7]{64}/u,
  /lin_(?:api|oauth)_[A-Za-z0-9]{32,}/u,
  /ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}/u,
  /fig[dour]r?_[\w-]{40,}/u,
  /pat[A-Za-z0-9]{14}\.[0-9a-f]{64}/u,
  /pat-(?:ap|eu|na)\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/u,
  /(?:api|sdk|mob)-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/u,
  /tskey-[a-z]{2,20}-[\w-]{20,}/u,
  /sl\.(?:[a-z]\.)?[\w-]{100,}/u,
  /sk\.eyJ[\w-]{40,}\.[\w-]{20,}/u,
  /CFPAT-[\w-]{43}/u,
  /p8e-[a-f0-9]{32}/u,
  /rdme_[a-z0-9]{70}/u,
  /tfp_[\w.=-]{59,}/u,
]
// biome-ignore-end format: one provider to a line

let pattern: RegExp | undefined

/**
 * A credential in the format of its provider. It does not begin within another word. Made when it is first needed, which
 * is seldom, since a hook has little time.
 */
export function credentialFormat(): RegExp {
  pattern ??= new RegExp(
    `(?<![A-Za-z\\d_])(?:${[...publicFormats(), ...secretlintRules()].map(({ source }) => source).join('|')})`,
    'gu',
  )
  return pattern
}

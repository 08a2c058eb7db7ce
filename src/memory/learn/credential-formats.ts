/**
 * Public formats of credentials that the test for random characters does not find. Every repetition is bounded or at
 * the end of its pattern, so that a search takes linear time.
 */
// biome-ignore-start format: one provider to a line
const publicFormats: readonly RegExp[] = [
  /(?:A3T[A-Z0-9]|AKIA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])/u,
  /(?:DefaultEndpointsProtocol=https?;)?(?:AccountName=[a-z0-9]{3,24};)?(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{40,}={0,2}/u,
  /(?:https:\/\/)?hooks?\.[\w.-]{1,60}\/(?=[\w/-]{0,60}\d)[\w/-]{16,}/u,
  /(?:https:\/\/)?(?:canary\.|ptb\.)?discord(?:app)?\.com\/api\/webhooks\/\d{10,25}\/[\w-]{40,}/u,
  /\d{8,10}:AA[\w-]{32,}/u,
  /sk-(?:(?=[A-Za-z_-]{0,40}\d)[\w-]{12,}|[A-Za-z]{16,})/u,
  /(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}/u,
  // Password hashes, and other values with parts between dollar signs
  /\$?[a-z\d][\w-]{0,30}(?:\$[\w./+=,-]{1,200}){1,4}\$[\w./+=-]{20,}/u,
  /(?<!-)eyJ[\w-]{8,600}\.eyJ[\w-]{8,}(?:\.[\w-]{8,})?/u,
  /(?=[A-Za-z]{0,5}[G-Zg-z])[A-Za-z]{2,6}[0-9a-f]{32,64}(?![\dA-Za-z])/u,
  /[0-9a-f]{32}-us\d{1,2}/u,
  /pat-(?:ap|eu|na)\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/u,
  /AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}/u,
]
// biome-ignore-end format: one provider to a line

/** A credential in the format of its provider that does not start within another word. */
export const credentialFormat = new RegExp(
  `(?<![A-Za-z\\d_])(?:${publicFormats.map(({ source }) => source).join('|')})`,
  'gu',
)

/** Secrets in the formats that vendors document, each in surroundings that do not name it. */
import type { Random } from './random.ts'

export interface SecretKind {
  readonly name: string
  readonly make: (random: Random) => string
}

const kind = (name: string, make: (random: Random) => string): SecretKind => ({ name, make })
const lines = (text: string, width: number): string => text.match(new RegExp(`.{1,${width}}`, 'g'))?.join('\n') ?? text
const pem = (label: string, body: string): string =>
  `-----BEGIN ${label}-----\n${lines(body, 64)}\n-----END ${label}-----`
const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const PRIVATE = ['PRIVATE', 'KEY'].join(' ')

export const DOCUMENTED_KINDS: readonly SecretKind[] = [
  kind('Anthropic API key', (r) => `sk-ant-api03-${r.base64url(93)}AA`),
  kind('OpenAI project key', (r) => `sk-proj-${r.base64url(74)}T3BlbkFJ${r.base64url(74)}`),
  kind('OpenAI key, older', (r) => `sk-${r.alnum(20)}T3BlbkFJ${r.alnum(20)}`),
  kind('OpenRouter key', (r) => `sk-or-v1-${r.hex(64)}`),
  kind('DeepSeek key', (r) => `sk-${r.hex(32)}`),
  kind('Groq key', (r) => `gsk_${r.alnum(52)}`),
  kind('xAI key', (r) => `xai-${r.alnum(80)}`),
  kind('Perplexity key', (r) => `pplx-${r.alnum(48)}`),
  kind('Hugging Face token', (r) => `hf_${r.letters(34)}`),
  kind('Replicate token', (r) => `r8_${r.alnum(37)}`),
  kind('LangSmith key', (r) => `lsv2_pt_${r.hex(32)}_${r.hex(10)}`),
  kind('Pinecone key', (r) => `pcsk_${r.alnum(6)}_${r.alnum(63)}`),
  kind('NVIDIA key', (r) => `nvapi-${r.base64url(64)}`),
  kind('Google API key', (r) => `AIza${r.base64url(35)}`),
  kind('Google OAuth client secret', (r) => `GOCSPX-${r.base64url(28)}`),
  kind('Google OAuth access token', (r) => `ya29.${r.base64url(120)}`),
  kind('AWS access key id', (r) => `AKIA${r.base32(16)}`),
  kind('AWS session key id', (r) => `ASIA${r.base32(16)}`),
  kind('Alibaba Cloud access key id', (r) => `LTAI5t${r.alnum(17)}7`),
  kind('DigitalOcean token', (r) => `dop_v1_${r.hex(64)}`),
  kind('Databricks token', (r) => `dapi${r.hex(32)}`),
  kind('Cloudflare origin CA key', (r) => `v1.0-${r.hex(24)}-${r.hex(146)}`),
  kind(
    'Azure storage connection string',
    (r) => `DefaultEndpointsProtocol=https;AccountName=${r.word(4)};AccountKey=${r.base64(86)}==`,
  ),
  kind('Azure client secret', (r) => `${r.alnum(3)}8Q~${r.alnum(34)}`),
  kind('GitHub token', (r) => `${r.pick(['ghp', 'gho', 'ghu', 'ghs', 'ghr'])}_${r.alnum(36)}`),
  kind('GitHub fine-grained token', (r) => `github_pat_${r.alnum(22)}_${r.alnum(59)}`),
  kind('GitLab token', (r) => `${r.pick(['glpat-', 'gldt-', 'glrt-', 'glptt-'])}${r.base64url(20)}`),
  kind('Atlassian token', (r) => `ATATT3xFfGF0${r.base64url(171)}=${r.upper(8)}`),
  kind('npm token', (r) => `npm_${r.alnum(36)}`),
  kind('PyPI token', (r) => `pypi-AgEIcHlwaS5vcmc${r.base64url(150)}`),
  kind('RubyGems key', (r) => `rubygems_${r.hex(48)}`),
  kind('crates.io token', (r) => `cio${r.alnum(32)}`),
  kind('Docker Hub token', (r) => `dckr_pat_${r.base64url(27)}`),
  kind('SonarQube token', (r) => `squ_${r.hex(40)}`),
  kind('Pulumi token', (r) => `pul-${r.hex(40)}`),
  kind('Netlify token', (r) => `nfp_${r.alnum(40)}`),
  kind('Supabase token', (r) => `sbp_${r.hex(40)}`),
  kind('PlanetScale password', (r) => `pscale_pw_${r.base64url(43)}`),
  kind('Doppler token', (r) => `dp.pt.${r.alnum(43)}`),
  kind('Vault token', (r) => `hvs.${r.base64url(95)}`),
  kind('Terraform Cloud token', (r) => `${r.alnum(14)}.atlasv1.${r.alnum(67)}`),
  kind('1Password secret key', (r) => `A3-${r.upper(6)}-${r.upper(6)}-${r.upper(5)}-${r.upper(5)}-${r.upper(5)}`),
  kind('Postman key', (r) => `PMAK-${r.hex(24)}-${r.hex(34)}`),
  kind('New Relic key', (r) => `NRAK-${r.upper(27)}`),
  kind('Grafana token', (r) => `glsa_${r.alnum(32)}_${r.hex(8)}`),
  kind('Sentry user token', (r) => `sntryu_${r.hex(64)}`),
  kind('Dynatrace token', (r) => `dt0c01.${r.base32(24)}.${r.base32(64)}`),
  kind('PostHog key', (r) => `phx_${r.alnum(43)}`),
  kind('Tailscale key', (r) => `tskey-auth-k${r.alnum(16)}-${r.alnum(32)}`),
  kind('Slack bot token', (r) => `xoxb-${r.digits(12)}-${r.digits(13)}-${r.alnum(24)}`),
  kind('Slack webhook', (r) => `https://hooks.slack.com/services/T${r.upper(10)}/B${r.upper(10)}/${r.alnum(24)}`),
  kind('Discord bot token', (r) => `M${r.alnum(25)}.G${r.base64url(5)}.${r.base64url(38)}`),
  kind('Discord webhook', (r) => `https://discord.com/api/webhooks/${r.digits(19)}/${r.base64url(68)}`),
  kind('Telegram bot token', (r) => `${r.digits(10)}:AA${r.base64url(33)}`),
  kind('SendGrid key', (r) => `SG.${r.base64url(22)}.${r.base64url(43)}`),
  kind('Mailgun key', (r) => `key-${r.hex(32)}`),
  kind('Mailchimp key', (r) => `${r.hex(32)}-us${r.below(20) + 1}`),
  kind('Brevo key', (r) => `xkeysib-${r.hex(64)}-${r.alnum(16)}`),
  kind('Twilio key', (r) => `SK${r.hex(32)}`),
  kind('Stripe key', (r) => `${r.pick(['sk_live_', 'rk_live_', 'sk_test_'])}${r.alnum(99)}`),
  kind('Stripe webhook secret', (r) => `whsec_${r.alnum(32)}`),
  kind('Square token', (r) => `sq0atp-${r.base64url(22)}`),
  kind('Shopify token', (r) => `shpat_${r.hex(32)}`),
  kind('Plaid token', (r) => `access-sandbox-${r.uuid()}`),
  kind('Airtable token', (r) => `pat${r.alnum(14)}.${r.hex(64)}`),
  kind('Notion token', (r) => `ntn_${r.digits(11)}${r.alnum(35)}`),
  kind('Linear key', (r) => `lin_api_${r.alnum(40)}`),
  kind('Figma token', (r) => `figd_${r.base64url(43)}`),
  kind('HubSpot token', (r) => `pat-na1-${r.uuid()}`),
  kind('Contentful token', (r) => `CFPAT-${r.base64url(43)}`),
  kind('Facebook token', (r) => `EAA${r.alnum(170)}9`),
  kind('age key', (r) => `AGE-SECRET-KEY-1${r.from('QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58)}`),
  kind(
    'JSON web token',
    (r) =>
      `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ sub: r.digits(8), name: r.word(4) })}.${r.base64url(43)}`,
  ),
  kind('RSA private key', (r) => pem(`RSA ${PRIVATE}`, `MIIEpAIBAAKCAQEA${r.base64(1200)}`)),
  kind('OpenSSH private key', (r) => pem(`OPENSSH ${PRIVATE}`, `b3BlbnNzaC1rZXktdjEAAAAA${r.base64(340)}`)),
  kind('EC private key', (r) => pem(`EC ${PRIVATE}`, `MHcCAQEE${r.base64(156)}`)),
  kind(
    'bcrypt hash',
    (r) => `$2b$12$${r.from('./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789', 53)}`,
  ),
  kind('wallet key', (r) => `xprv9s21ZrQH143K${r.base58(96)}`),
]

/** They name no secret, so that only its format can give it away. */
export const SURROUNDINGS: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => `Please try it with ${secret} and tell me what happens.`,
  (secret) => `const x = "${secret}";\nrun(x)`,
  (secret) => `2026-03-04T05:06:07Z INFO start worker=3 arg=${secret} done`,
  (secret) => `The output was:\n\n\`\`\`\n${secret}\n\`\`\`\n`,
  (secret) => JSON.stringify({ args: ['--x', secret], n: 1 }),
  (secret) => `${secret}、これで動きますか`,
  (secret) => `a,b,${secret.replaceAll('\n', '\\n')},c`,
]

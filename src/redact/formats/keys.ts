/** Formats without a vendor: private keys, signed tokens, hashed passwords, wallets. */
import { alnum, random, token } from './format.ts'

const KEY_END = '(?:-{2,5}\\s?END [A-Z0-9 ]{0,40}-{2,5})?'

export const KEY_FORMATS = [
  // A key is secret even where its end is missing, or where another format escapes or quotes its lines.
  token(
    'privatekey',
    '-----BEGIN',
    `\\s?(?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:Proc-Type:[^\\n]*|DEK-Info:[^\\n]*|(?:Version|Comment|Hash|Charset):[^\\n]*|[\\sA-Za-z0-9+/=\\\\"',>|#*:-]){20,20000}?(?:-----END [A-Z0-9 ]{0,40}-----|$|(?=[^\\sA-Za-z0-9+/=\\\\"',>|#*:-]))`,
  ),
  token('privatekey', '----', ` BEGIN SSH2 ENCRYPTED PRIVATE KEY ----[\\s\\S]{20,8000}?${KEY_END}`),
  token('privatekey', 'Private-Lines:', '\\s*\\d{1,3}\\s+((?:[A-Za-z0-9+/=]{20,64}\\s{1,2}){1,80})'),
  token('age', 'AGE-SECRET-KEY-1 AGE-SECRET-KEY-PQ-1 AGE-PLUGIN-', '[A-Za-z0-9]{50,200}'),
  token('jwt', 'eyJ', '[\\w-]{8,2000}\\.eyJ[\\w-]{8,8000}\\.[\\w-]{10,1000}'),
  token('jwe', 'eyJ', '[\\w-]{8,2000}\\.[\\w-]{0,1000}\\.[\\w-]{8,100}\\.[\\w-]{8,8000}\\.[\\w-]{10,100}'),
  token(
    'paseto',
    'v1.local. v2.local. v3.local. v4.local. v1.public. v2.public. v4.public.',
    '[\\w-]{40,4000}(?:\\.[\\w-]+)?',
  ),
  token('passwordhash', '$2a$ $2b$ $2y$', '\\d\\d\\$[./A-Za-z0-9]{53}'),
  token(
    'passwordhash',
    '$argon2id$ $argon2i$ $argon2d$',
    'v=\\d+\\$[mtp=,\\d]{5,40}\\$[A-Za-z0-9+/]{8,100}\\$[A-Za-z0-9+/]{16,200}',
  ),
  token(
    'passwordhash',
    '$1$ $5$ $6$ $y$ $7$ $apr1$ $gy$',
    '(?:rounds=\\d+\\$)?[./A-Za-z0-9]{1,40}\\$(?:[./A-Za-z0-9]{1,40}\\$)?[./A-Za-z0-9]{20,100}',
  ),
  token(
    'passwordhash',
    'pbkdf2_sha256$ pbkdf2_sha1$ scrypt$',
    '[\\d$,]{4,30}[A-Za-z0-9]{6,60}\\$[A-Za-z0-9+/=]{20,120}',
  ),
  token(
    'passwordhash',
    'SCRAM-SHA-256$ SCRAM-SHA-1$',
    '\\d{1,9}:[A-Za-z0-9+/=]{10,60}\\$[A-Za-z0-9+/=]{20,80}:[A-Za-z0-9+/=]{20,80}',
  ),
  token('passwordhash', '{SSHA} {SHA} {SSHA512} {SSHA256}', '[A-Za-z0-9+/]{20,120}={0,2}'),
  // Ciphertext cannot be examined. `encrypted` is not listed as a secret, but it does not leave.
  token('encrypted', '-----BEGIN', ' PGP MESSAGE-----[\\s\\S]{20,200000}?(?:-----END PGP MESSAGE-----|$)'),
  token(
    'encrypted',
    '$ANSIBLE_VAULT;',
    '[\\d.]+;AES256[;\\w]*\\s+[0-9a-f]{40,80}(?:\\s+[0-9a-f]{2,80}(?![0-9A-Za-z]))*',
  ),
  token(
    'encrypted',
    '-----BEGIN AGE ENCRYPTED',
    ' FILE-----[\\s\\S]{20,200000}?(?:-----END AGE ENCRYPTED FILE-----|$)',
  ),
  token('encrypted', 'gAAAAA', '[\\w-]{80,200000}={0,2}'),
  token('nostr', 'nsec1', '[a-z0-9]{58}(?![a-z0-9])'),
  token('wallet', 'xprv yprv zprv tprv', '[1-9A-HJ-NP-Za-km-z]{90,115}'),
  token('otp', 'otpauth://', '(?:totp|hotp)/[^\\s?]{0,200}\\?[^\\s]{0,200}?secret=([A-Za-z2-7=]{8,120})'),
  token('saml', 'SAMLResponse', '["\']?(?:\\s?[=:]\\s?["\']?|\\s+value\\s?=\\s?["\'])([A-Za-z0-9+/%=]{80,60000})'),
  token('magiclink', 'token_hash=', '([\\w-]{20,200})'),
  token('gpg', 'lQOYB lQVYB lQHYB lQdGB lIYEZ lQWGB', '[A-Za-z0-9+/=\\s]{100,20000}'),
  token('ssh', 'b3BlbnNzaC1rZXktdjE', '[A-Za-z0-9+/=\\\\ns]{60,8000}'),
  token('mnemonic', 'seed_phrase=', `(${alnum(2)}(?: [a-z]{3,8}){11,23})`),
  // Many services begin their keys like that. Last, so that a documented format gives the kind.
  random('apikey', 'sk-', '[\\w-]{32,300}(?![\\w-])'),
  random('apikey', 'sk_ secret_ secret- apikey_ apikey- api_key_ api-key-', '[\\w-]{24,300}(?![\\w-])'),
]

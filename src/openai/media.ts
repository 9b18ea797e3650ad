/** Identifies images, audio and documents by their first bytes, and encodes bytes as text. */

/** Uses only the content, because names may be wrong. */
export function mimeOf(bytes: Uint8Array): string | undefined {
  return SIGNATURES.find(({ magic }) => magic.every(([at, text]) => hasTextAt(bytes, at, text)))?.mime
}

/** The form that the API requires for images and documents. */
export function toDataUri(bytes: Uint8Array, mime: string): string {
  return `data:${mime};base64,${toBase64(bytes)}`
}

export function toBase64(bytes: Uint8Array): string {
  const pieces: string[] = []
  // A multiple of three, so that only the last piece is padded, and small enough for the arguments of one call.
  for (let at = 0; at < bytes.length; at += 24_573) {
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + 24_573))))
  }
  return pieces.join('')
}

interface Signature {
  readonly mime: string
  readonly magic: readonly (readonly [at: number, text: string])[]
}

const SIGNATURES: readonly Signature[] = [
  { mime: 'image/png', magic: [[0, '\x89PNG\r\n\x1a\n']] },
  { mime: 'image/jpeg', magic: [[0, '\xff\xd8\xff']] },
  { mime: 'image/gif', magic: [[0, 'GIF8']] },
  {
    mime: 'image/webp',
    magic: [
      [0, 'RIFF'],
      [8, 'WEBP'],
    ],
  },
  {
    mime: 'audio/wav',
    magic: [
      [0, 'RIFF'],
      [8, 'WAVE'],
    ],
  },
  { mime: 'audio/mpeg', magic: [[0, 'ID3']] },
  { mime: 'audio/mpeg', magic: [[0, '\xff\xfb']] },
  { mime: 'audio/mpeg', magic: [[0, '\xff\xf3']] },
  { mime: 'audio/mpeg', magic: [[0, '\xff\xf2']] },
  { mime: 'application/pdf', magic: [[0, '%PDF-']] },
]

function hasTextAt(bytes: Uint8Array, at: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text.charCodeAt(i)) return false
  return true
}

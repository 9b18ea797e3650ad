/** What the server wants from the user before a chat can be opened. */
import type { ChatDirectoryNeeded, ChatTrust } from '../../model/api/chat.ts'
import type { Problem } from '../api/client.ts'

export const directoryIn = ({ code, meta }: Problem): ChatDirectoryNeeded | undefined =>
  code === 'directory_needed' ? (meta as unknown as ChatDirectoryNeeded) : undefined

export const trustIn = ({ code, meta }: Problem): ChatTrust | undefined =>
  code === 'trust_needed' ? (meta?.['trust'] as ChatTrust) : undefined

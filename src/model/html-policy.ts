/** What HTML may reach a reader's screen. The server's and the page's sanitiser both follow these lists. */

export const ALLOWED_TAGS = ['p', 'pre', 'code', 'strong', 'em', 'ul', 'ol', 'li', 'a'] as const
export const ALLOWED_ATTRIBUTES = { a: ['href', 'rel'] } as const
export const ALLOWED_SCHEMES = ['http', 'https', 'mailto'] as const
/** Put on every link: the target learns nothing of us and gains no handle on our window. */
export const LINK_REL = 'noopener noreferrer nofollow'

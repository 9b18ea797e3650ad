/** The HTML that may be displayed. The sanitizers of server and page both use these lists. */

export const ALLOWED_TAGS = ['p', 'pre', 'code', 'strong', 'em', 'ul', 'ol', 'li', 'a'] as const
export const ALLOWED_ATTRIBUTES = { a: ['href', 'rel'] } as const
export const ALLOWED_SCHEMES = ['http', 'https', 'mailto'] as const
/** Set on every link: hides the referrer and gives the target no access to our window. */
export const LINK_REL = 'noopener noreferrer nofollow'

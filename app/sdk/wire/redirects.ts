/** Redirects, which no request of this project follows: a POST would become a GET, and lose its key on the way. */

const REDIRECTS = [301, 302, 303, 307, 308];

export const isRedirect = (status: number): boolean => REDIRECTS.includes(status);

/** An HTTP status for people, such as "status 404". */
export const statusText = (status: number): string =>
  `status ${status}${isRedirect(status) ? ', a redirect, which is not followed' : ''}`;

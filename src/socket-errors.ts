/** Sentences for why a connection to another machine failed, by the code of the error of its socket. */
export const SOCKET_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  ETIMEDOUT: 'it does not answer',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name cannot be looked up now',
  // OpenSSL, for bytes that are not TLS.
  ERR_SSL_WRONG_VERSION_NUMBER: 'that port does not speak TLS; it may be plain HTTP',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'that port does not speak TLS; it may be plain HTTP',
  // fetch of Node.
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
  UND_ERR_SOCKET: 'the connection was closed',
};

/** Whether `code`, of OpenSSL or Node, is about a certificate that is not accepted. Other codes of TLS are not. */
export const isCertificateError = (code: string): boolean =>
  /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_)/.test(code);

/** Sentences for why a connection to another machine failed, by the code of the error of its socket. */
export const SOCKET_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the host',
  ETIMEDOUT: 'no answer in time',
  ENOTFOUND: 'unknown host name',
  EAI_AGAIN: 'the host name cannot be resolved',
  // OpenSSL, for bytes that are not TLS.
  ERR_SSL_WRONG_VERSION_NUMBER: 'that port does not speak TLS; it may be plain HTTP',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'that port does not speak TLS; it may be plain HTTP',
  // fetch of Node.
  UND_ERR_CONNECT_TIMEOUT: 'no answer in time',
  UND_ERR_SOCKET: 'connection closed',
};

/** Whether `code`, of OpenSSL or Node, is about a certificate that is not accepted. Other codes of TLS are not. */
export const isCertificateError = (code: string): boolean =>
  /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_)/.test(code);

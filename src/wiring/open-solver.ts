import type { Settings } from '../config/settings.ts';
import { createAntiCaptcha } from '../fetch/captcha/anti-captcha.ts';
import { type CaptchaService, createCaptchaService } from '../fetch/captcha/captcha-solvers.ts';
import { createTwoCaptcha } from '../fetch/captcha/two-captcha.ts';

/** The services that the settings name. Their keys stay in this process: render processes ask it for solutions. */
export function openSolver(settings: Settings): CaptchaService {
  const { captchaKey, captchaUrl, antiCaptchaKey, antiCaptchaUrl } = settings;
  return createCaptchaService({
    primary: captchaKey === undefined ? null : createTwoCaptcha({ key: captchaKey, url: captchaUrl }),
    fallback:
      antiCaptchaKey === undefined ? null : createAntiCaptcha({ key: antiCaptchaKey, url: antiCaptchaUrl }),
  });
}

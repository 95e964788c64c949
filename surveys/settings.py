"""Settings of the site. Every deployment choice is one environment variable, read here and nowhere
else.

`local` mode (the default) needs nothing: SQLite, an embedded Redis-compatible server, a
secret key made once in the data folder. `production` mode takes nothing for granted:
`checks.py` refuses to start until each variable it needs is there.
"""

import base64
import contextlib
import hashlib
import os
import secrets
import tempfile
from pathlib import Path

from csp.constants import NONE, SELF

from surveys.environment import SERVER_SCHEMES, Environment
from surveys.logs import LOGGING as LOGGING

env = Environment()

BASE_DIR = Path(__file__).resolve().parent.parent
CANDOR_MODE = env.choice("CANDOR_MODE", ("local", "production"), "local")
PRODUCTION = CANDOR_MODE == "production"
CANDOR_HOST = env.text("CANDOR_HOST", "127.0.0.1")
CANDOR_PORT = env.whole("CANDOR_PORT", 8000, least=1, most=65535)
CANDOR_DEMO = env.flag("CANDOR_DEMO", default=False)
DATA_DIR = env.folder("CANDOR_DATA", BASE_DIR / "var")
BACKUPS_DIR = env.folder("CANDOR_BACKUPS", DATA_DIR / "backups")
DEBUG = env.flag("DEBUG", default=False)
# What is counted for /metrics, and shown to who holds the token; without one nothing is counted.
METRICS_TOKEN = env.text("CANDOR_METRICS_TOKEN")
METRICS_DIR = env.folder("CANDOR_METRICS_DIR", DATA_DIR / "metrics")


if (own := BASE_DIR / "var") == DATA_DIR and not PRODUCTION:
    own.mkdir(mode=0o700, exist_ok=True)
    if own.stat().st_uid == os.geteuid():  # a version before, or `make`, may have let others in
        own.chmod(0o700)


def made_once(path: Path, content: str) -> str:
    """Return what a file of this data folder holds: this content from its first start on, readable
    by its owner only.

    The file appears whole: of two processes that start at once, the second reads what the first
    wrote.
    """
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=path.parent
        ) as new:  # which only its owner may read
            new.write(content)
            new.flush()
            os.fsync(new.fileno())
            with contextlib.suppress(FileExistsError):
                os.link(new.name, path)
    return path.read_text()


def local_publication_key() -> str | None:
    """Return the key of this data folder, unless the environment has keys or must have them."""
    if PRODUCTION or env.text("PUBLICATION_KEYS"):
        return None
    return made_once(
        DATA_DIR / "publication.key", base64.b64encode(secrets.token_bytes(32)).decode()
    )


def short_path(path: Path) -> Path:
    """Return a path that fits the address of a Unix socket, the same one for the same folder."""
    if len(os.fsencode(path)) <= 107:  # bytes of such an address
        return path
    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"candor-{os.getuid()}-{name}.sock"


# In production a missing key is a blank: short enough for `checks.py` to refuse, readable for the
# checks to run.
SECRET_KEY = env.text("SECRET_KEY") or (
    " " if PRODUCTION else made_once(DATA_DIR / "secret.key", secrets.token_urlsafe(50))
)
# Answers that are sent as given are encrypted with keys of their own, never with Django's: the
# first seals, all open.
PUBLICATION_KEYS = env.keys("PUBLICATION_KEYS", local_publication_key())
ALLOWED_HOSTS = env.names("ALLOWED_HOSTS") or (
    [] if PRODUCTION else ["127.0.0.1", "localhost", "[::1]", CANDOR_HOST]
)
# Forms have a host of their own where this names one, such as https://forms.example.org: links and
# letters lead there.
FORMS_URL = env.origin("FORMS_URL")
if FORMS_URL and ALLOWED_HOSTS:  # or production would not miss those of the site itself
    host = FORMS_URL.partition("://")[2].partition(":")[0]
    ALLOWED_HOSTS += [] if host in ALLOWED_HOSTS else [host]
# where people sign in, as links from the console and `doctor` say it
SITE_ADDRESS = f"http://{CANDOR_HOST}:{CANDOR_PORT}"
if PRODUCTION and ALLOWED_HOSTS:
    SITE_ADDRESS = f"https://{ALLOWED_HOSTS[0].lstrip('.')}"
# how an operator runs a command here, and starts the site again, as letters and `doctor` say it
MANAGE, RESTART = "python manage.py", "python manage.py up"
if PRODUCTION and Path("/.dockerenv").exists():
    compose = "docker compose --project-name candor -f deploy/compose.yaml"
    MANAGE, RESTART = f"{compose} exec web python manage.py", f"{compose} restart"
elif PRODUCTION:
    MANAGE, RESTART = f"{BASE_DIR}/deploy/manage", "systemctl restart candor.target"
CSRF_TRUSTED_ORIGINS = (
    [f"https://{'*' * host.startswith('.')}{host}" for host in ALLOWED_HOSTS] if PRODUCTION else []
)

INSTALLED_APPS = [
    "surveys.people.apps.PeopleConfig",
    "surveys.ledger",
    "surveys.design",
    "surveys.intake",
    "surveys.issuer",
    "surveys.aggregation",
    "surveys.releases",
    "surveys.invited",
    "surveys.planning",
    "surveys.operations",
    "surveys.demo",
    "surveys.results",
    "surveys.drafting",
    "surveys.limits",
    "surveys.apps.HallConfig",
    "surveys.apps.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.forms",  # widgets of forms that are rendered by templates of our own
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "django_htmx",
    "rest_framework",
    "csp",
]

MIDDLEWARE = [
    "surveys.middleware.ClosedDoors",
    "surveys.middleware.Numbered",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "surveys.middleware.RefuseLarge",
    "surveys.people.middleware.SecondFactorMiddleware",
    "surveys.people.middleware.KeptByNobody",
    "surveys.middleware.BackToThePage",
    "surveys.middleware.AskAgain",
    "django_htmx.middleware.HtmxMiddleware",
    "surveys.operations.refusals.CountRefusals",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "surveys.people.context.site",
                "surveys.operations.context.site_menu",
            ],
            "builtins": [  # what pages use without loading it
                "django.templatetags.i18n",
                "django.templatetags.static",
                "django.contrib.humanize.templatetags.humanize",
                *(
                    f"surveys.{library}"
                    for library in (
                        "design.templatetags.counted",
                        "design.templatetags.studies",
                        "ledger.templatetags.facts",
                        "people.templatetags.persons",
                        "planning.templatetags.planning",
                        "releases.templatetags.stored",
                        "results.templatetags.losses",
                        "results.templatetags.numbers",
                    )
                ),
            ],
        },
    }
]

ROOT_URLCONF = "surveys.urls"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Database: SQLite takes its write lock when a transaction begins, so that budgets are read under it
# (DESIGN § 5).
DATABASES = {"default": env.database("DATABASE_URL", DATA_DIR / "candor.sqlite3")}
SQLITE = DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3"
if SQLITE:
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 30,
        "init_command": "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA "
        "busy_timeout = 30000; "
        "PRAGMA secure_delete = ON;",
    }
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    # A machine that falls silent is given up after 20 s, not after the system's quarter of an hour.
    silent = {"connect_timeout": 10, "keepalives_idle": 10, "keepalives_interval": 5}
    silent |= {"tcp_user_timeout": 20_000}  # milliseconds
    DATABASES["default"]["OPTIONS"] = silent | DATABASES["default"].get("OPTIONS", {})
HAS_SERVERS = True  # in production, of its database and its broker; an issuer alone has none
# A streaming replica, for what strangers read (`replica.py`).
if READS_COPY := bool(env.text("READ_DATABASE_URL")):
    found = env.database("READ_DATABASE_URL", DATA_DIR / "candor.sqlite3", SERVER_SCHEMES)
    DATABASES["replica"] = {
        **found,
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {}
        if SQLITE
        else silent
        | {"connect_timeout": 2, "keepalives_idle": 2, "keepalives_interval": 1}
        | {"tcp_user_timeout": 2_000}
        | found.get("OPTIONS", {}),
        "TEST": {"MIRROR": "default"},
    }
    DATABASE_ROUTERS = ["surveys.replica.Router"]
    MIDDLEWARE.append("surveys.replica.ReadReplica")

# Celery. A task is acknowledged when done and given to another worker when its own is lost; the
# settings of the transport make that take seconds, not minutes. No result is kept: tasks take ids
# and write to the database.
EMBEDDED_REDIS = not env.text("REDIS_URL")
VALKEY_SOCKET = short_path(DATA_DIR / "valkey.sock")
CELERY_BROKER_URL = env.redis("REDIS_URL", f"redis+socket://{VALKEY_SOCKET}")
# seconds; a sweep or a publication takes less than one, and a longer backlog goes on in the next
MAX_TASK_SECONDS = 60
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": MAX_TASK_SECONDS + 15,
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
}
CELERY_TASK_TIME_LIMIT = MAX_TASK_SECONDS
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = (
    True  # what cannot be acknowledged comes again
)
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TIMEZONE = "UTC"
SWEEP_SECONDS = env.whole("CANDOR_SWEEP_SECONDS", 10, least=1, most=86_400)
CELERY_BEAT_SCHEDULE = {
    name: {
        "task": f"surveys.{task}",
        "schedule": float(seconds),
        # who comes too late is not needed, and who is the second of its period neither (turns.py)
        "options": {"expires": float(seconds), "headers": {"candor_every": seconds}},
    }
    for name, task, seconds in (
        ("close studies whose last day has passed", "design.tasks.close_due", 60),
        ("retire studies whose day has come", "design.tasks.retire_due", 60),
        ("retire studies whose cap is reached", "releases.tasks.retire_spent", 60),
        ("erase the open reports of retired studies", "intake.tasks.erase_retired", 60),
        ("erase the batches and counts of retired studies", "aggregation.tasks.erase_retired", 60),
        ("erase what series that are over remembered", "releases.tasks.erase_over", 60),
        ("put the receipts of earlier days in order", "aggregation.tasks.settle", 600),
        ("put the marks of earlier days in order", "issuer.tasks.settle", 600),
        ("cut the journal of what was erased", "intake.tasks.cut_journal", 60),
        ("seal new reports", "aggregation.tasks.sweep_all", SWEEP_SECONDS),
        ("send letters", "invited.tasks.send", 10),
        ("count who came, once a day", "invited.tasks.count_day", 300),
        ("close lists that are over, and erase those whose day has come", "invited.tasks.end", 60),
        ("publish what is due", "releases.tasks.publish_due", SWEEP_SECONDS),
        ("publish what was asked for", "releases.tasks.publish_asked", SWEEP_SECONDS),
        ("delete sessions that have expired", "people.tasks.clear_sessions", 3_600),
        ("tell owners what was done with their studies", "people.tasks.tell", 60),
        ("say that tasks are done", "operations.tasks.live", 30),
        ("check the ledger, once a day", "operations.tasks.verify_if_due", 600),
        ("send a letter about what is wrong", "operations.tasks.watch", 300),
    )
}

# People
AUTH_USER_MODEL = "people.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_ADAPTER = "surveys.people.adapter.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False  # who asks for a stranger's password sends nobody a letter
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_SESSION_REMEMBER = False  # a session ends with the browser
ACCOUNT_LOGIN_ON_PASSWORD_RESET = True  # who has just set a password knows it
ACCOUNT_RATE_LIMITS = {
    "login_failed": None
}  # wrong tries are counted by surveys/people/attempts.py
ACCOUNT_SIGNUP_FIELDS = [
    "username*",
    "password1*",
    "password2*",
]  # the form that the adapter keeps closed
ADMINS_NEED_SECOND_FACTOR = (
    not CANDOR_DEMO
)  # the demo's passwords are public, and it stays on its machine
MFA_ADAPTER = "surveys.people.adapter.FactorAdapter"
MFA_FORMS = {
    "authenticate": "surveys.people.factors.CodeForm",
    "reauthenticate": "surveys.people.factors.CodeAgainForm",
    "login_webauthn": "surveys.people.factors.PasskeyForm",
}
MFA_RATE_LIMITS = {
    "webauthn_login": None
}  # nothing can be guessed, and others may be closed; how often one is begun: views.passkey
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Candor"
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not PRODUCTION  # http://localhost; never in production
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "dashboard:studies"
LOGOUT_REDIRECT_URL = ACCOUNT_LOGOUT_REDIRECT_URL = "home"
INVITATION_DAYS = 7  # in which a link that sets a password must be used
# How often somebody tried to sign in is counted in the database: workers share it, and it needs no
# further server.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "people_attempts",
        # addresses of people's machines are in the keys
        "KEY_FUNCTION": "surveys.people.attempts.hashed",
        "OPTIONS": {
            "MAX_ENTRIES": 100_000
        },  # or who tries many names has the attempts at the others forgotten
    }
}
# Letters: only where a server for them is named. Else an admin makes a link, and the pages say so.
EMAIL_CONFIGURED = bool(env.text("EMAIL_URL"))
vars().update(env.email("EMAIL_URL"))
EMAIL_TIMEOUT = 10  # seconds
ALARMS_TO = env.names("CANDOR_ALARMS_TO")
CONTACT = env.contact("CANDOR_CONTACT")
# Letters to people on lists: so many a second, 0: as fast as the server takes them; and where those
# that come back go.
LETTERS_A_SECOND = env.whole("CANDOR_LETTERS_A_SECOND", 2, least=0, most=1000)
RETURN_PATH = env.text("EMAIL_RETURN_PATH")
DEFAULT_FROM_EMAIL = env.text("EMAIL_FROM", "candor@localhost")
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

# What a browser may do here: load from this site, and nothing else.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "base-uri": [NONE],
        "object-src": [NONE],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
    }
}
# What scripts could ask of a browser, and what ours do.
FEATURES = (
    "accelerometer",
    "autoplay",
    "browsing-topics",
    "camera",
    "clipboard-read",
    "clipboard-write",
    "display-capture",
    "encrypted-media",
    "fullscreen",
    "gamepad",
    "geolocation",
    "gyroscope",
    "hid",
    "identity-credentials-get",
    "idle-detection",
    "local-fonts",
    "magnetometer",
    "microphone",
    "midi",
    "otp-credentials",
    "payment",
    "picture-in-picture",
    "publickey-credentials-create",
    "publickey-credentials-get",
    "screen-wake-lock",
    "serial",
    "storage-access",
    "sync-xhr",
    "usb",
    "window-management",
    "xr-spatial-tracking",
)
PERMISSIONS = {"clipboard-write"}  # a receipt, a link
PERMISSIONS_OF_ACCOUNTS = {
    "publickey-credentials-create",
    "publickey-credentials-get",
}  # a security key
# Beside these Django’s own hold: no frames, no guessing of types, referrers and openers of this
# site only, a session’s cookie that no script and no other site’s request can use.
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PRODUCTION
SECURE_SSL_REDIRECT = PRODUCTION and env.flag("SECURE_SSL_REDIRECT", default=True)
SECURE_HSTS_SECONDS = 31_536_000 if PRODUCTION else 0
# Of names that are not this site's, for months: only who has all of them may say so.
SECURE_HSTS_INCLUDE_SUBDOMAINS = env.flag("SECURE_HSTS_INCLUDE_SUBDOMAINS", default=False)
SECURE_HSTS_PRELOAD = env.flag("SECURE_HSTS_PRELOAD", default=False)
BEHIND_PROXY = env.flag("BEHIND_PROXY", default=False)
if BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# else all the world is one address, and a stranger's attempts lock everyone out
ALLAUTH_TRUSTED_PROXY_COUNT = int(BEHIND_PROXY)
ALLAUTH_RATE_LIMIT_IPV6_PREFIX = (
    56  # of an address of IPv6: what one household has; surveys/brakes.py says why
)
# Reports that one network may send at once, and again as many every ten minutes: a class or two
# behind one address.
REPORTS_AT_ONCE = env.whole("CANDOR_REPORTS_AT_ONCE", 1000, least=1, most=10_000_000)

# Who signs the tickets of invited people: this process, or with a token the one at that address
# (`manage.py issuer`), which has the same token, and the origin of the pages that may ask it.
ISSUER_URL = env.origin("ISSUER_URL")
ISSUER_TOKEN = env.text("ISSUER_TOKEN")
ISSUER_ORIGIN = env.origin("ISSUER_ORIGIN")
if ISSUER_URL:
    CONTENT_SECURITY_POLICY["DIRECTIVES"]["connect-src"] = [SELF, ISSUER_URL]

# Static files: served by the application itself, compressed once at `collectstatic`.
STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}
PAGES_CACHED = PRODUCTION  # of the registry, for a minute

# A page of translations has a field for every choice of every question: more are refused only after
# all was typed.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000

REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.SessionAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
}

# Languages: of a form, what its address says; elsewhere, what the reader chose, or their browser
# asks for.
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "locale/form", BASE_DIR / "locale"]  # of the form; of the site
FORMAT_MODULE_PATH = ["surveys.formats"]
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SECURE = PRODUCTION
TIME_ZONE = "UTC"
STUDY_TIME_ZONE = env.zone("STUDY_TIME_ZONE")  # in which days of a new study begin and end

# Problems with the environment, for `checks.py` to refuse.
SETTINGS_PROBLEMS = env.problems
